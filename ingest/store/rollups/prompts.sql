-- Which text of a prompt was in force when.

SELECT
    is_before, day, source, prompt_id, prompt_hash, trial_run, arm,
    count(*) AS turns, min(ts) AS first_ts, max(ts) AS last_ts
FROM counted_turns
WHERE NOT duplicate AND prompt_id IS NOT NULL
    AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM counted_turns.day)
GROUP BY ALL
