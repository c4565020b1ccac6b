-- Steps with parallel calls: how often one call was missing or had invalid arguments, and how many other calls were lost.
-- - lost: the call was denied, or has no result although the session shows results. The last step of an unfinished turn is
--   left out, because its results may still come.
-- - session_group: as in daily_chains

WITH
    open_steps AS (
        SELECT is_before, turn_id, max(step) AS step
        FROM counted_calls
        SEMI JOIN (FROM counted_turns WHERE derived_reason = 'not_ended' AND derived_ok IS NULL) USING (is_before, turn_id)
        GROUP BY is_before, turn_id
    ),
    steps AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, session_group, turn_id, step,
            count(*) AS calls,
            count(*) FILTER (fault_layer IN ('emission', 'syntax', 'schema')) AS bad,
            count(*) FILTER (
                (fault_layer IS NULL OR fault_layer = 'refused') AND result_status IN ('missing', 'denied')
            ) AS lost
        FROM calls_of_days
        SEMI JOIN (FROM counted_turns WHERE results_expected AND NOT duplicate) USING (is_before, turn_id)
        ANTI JOIN open_steps USING (is_before, turn_id, step)
        GROUP BY ALL HAVING count(*) > 1
    )
SELECT
    is_before, day, source, provider, model, prompt_id, trial_run, arm, session_group,
    count(*) AS steps, sum(calls) AS calls, sum(lost) AS lost,
    count(*) FILTER (bad > 0) AS bad_steps, sum(bad) AS bad,
    coalesce(sum(calls - bad) FILTER (bad > 0), 0) AS others,
    coalesce(sum(lost) FILTER (bad > 0), 0) AS others_lost
FROM steps
GROUP BY ALL
