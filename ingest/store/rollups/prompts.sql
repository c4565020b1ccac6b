-- The texts of each prompt that were used on each day.

SELECT
    is_before, day, source, prompt_id, prompt_hash, trial_run, arm,
    count(*) AS turns, min(ts) AS first_ts, max(ts) AS last_ts
FROM turns_of_days
WHERE prompt_id IS NOT NULL
GROUP BY ALL
