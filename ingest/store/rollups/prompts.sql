-- Which text of a prompt was used when.

SELECT
    is_before, day, source, prompt_id, prompt_hash, trial_run, arm,
    count(*) AS turns, min(ts) AS first_ts, max(ts) AS last_ts
FROM turns_of_days
WHERE prompt_id IS NOT NULL
GROUP BY ALL
