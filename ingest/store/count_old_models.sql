-- After count_models.sql: sums of days whose facts are gone, which cannot be counted anew, get the new names, too.

UPDATE daily_calls t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_turns t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_tokens t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_codes t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_rates t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_chains t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_parallel t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_errors t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_parameters t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE daily_traits t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
UPDATE task_trials t SET model = a.model FROM model_aliases a
WHERE t.model = a.model_name AND t.day < (SELECT max(facts_before) FROM store_info);
