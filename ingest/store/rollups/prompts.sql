-- Which text of a prompt was in force when.

DELETE FROM daily_prompts USING touched_days t WHERE daily_prompts.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_prompts BY NAME
SELECT day, source, prompt_id, prompt_hash, trial_run, arm, count(*) AS turns, min(ts) AS first_ts, max(ts) AS last_ts
FROM turns
WHERE NOT duplicate AND prompt_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM turns.day)
GROUP BY ALL;
