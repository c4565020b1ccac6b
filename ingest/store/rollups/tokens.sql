-- Tokens of turns, by kind of price, success of the turn and group of its session (ingest/store/session_group.sql).
-- - whole: the log has the tokens of each step. Turns without these tokens have no cost.

SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, session_group,
    coalesce(counted_steps >= steps AND steps > 0, false) AS whole, recorded_ok, derived_ok,
    count(*) AS turns,
    coalesce(sum(steps), 0) AS steps,
    coalesce(sum(counted_steps), 0) AS counted_steps,
    coalesce(sum(counted_input), 0) AS counted_input,
    coalesce(sum(counted_cached), 0) AS counted_cached,
    coalesce(sum(counted_cache_write), 0) AS counted_cache_write,
    coalesce(sum(counted_output), 0) AS counted_output
FROM turns_of_days
GROUP BY ALL
