-- title: Trials of a run
-- question: What was the result of each trial of a run?
-- unit: one row per trial; a trial is one session in which a variant tried a task
-- column calls: calls and missing calls
-- column refused: calls with a syntax or schema error
-- column mended: calls that were converted or repaired; NULL if the server may have rewritten the arguments
-- column misses: number of simulated results for which no recorded answer matched
-- column no_reply: true if the endpoint did not reply; then the trial is not measured
-- column checked: result of the task's check; NULL if the task has no check
-- column why: the reason that the check gives
-- column turn_ok: turn success, independent of the check
-- column tokens: input and output tokens; NULL if the log contains none
-- column cost: cost in USD; NULL if there is no price
WITH called AS (
  SELECT source, session_id, count(*) AS calls,
         count(*) FILTER (fault_layer IN ('syntax', 'schema')) AS refused,
         CASE WHEN count(*) FILTER (args_source = 'unattributed') = 0
           THEN count(*) FILTER (outcome IN ('coerced', 'repaired')) END AS mended,
         count(*) FILTER (simulated = 'miss') AS misses, count(simulated) AS simulated
  FROM tool_calls WHERE trial_run = $run AND NOT duplicate
  GROUP BY ALL
),
ended AS (
  SELECT source, session_id, -- A conversation that grew too long for the model is the model's own.
         bool_or(starts_with(answer_text, '(no reply)') AND recorded_status IS DISTINCT FROM 'prompt_limit') AS no_reply,
         bool_and(recorded_ok) FILTER (verdict_reason IS NOT NULL) AS checked,
         string_agg(verdict_reason, '; ' ORDER BY turn) FILTER (NOT recorded_ok) AS why,
         bool_and(recorded_status = 'ok') AS turn_ok, arg_max(recorded_status, turn) AS status,
         sum(input_tokens + output_tokens) AS tokens, sum(cost) AS cost, sum(resent) AS resent,
         max(coalesce(ended_at, ts)) AS ended_at
  FROM turns WHERE trial_run = $run AND NOT duplicate
  GROUP BY ALL
)
SELECT arm, coalesce(task, s.session_id) AS task, repeat_no, s.session_id, s.file_id, coalesce(no_reply, false) AS no_reply,
       coalesce(calls, 0) AS calls, coalesce(refused, 0) AS refused, CASE WHEN calls IS NULL THEN 0 ELSE mended END AS mended,
       coalesce(misses, 0) AS misses, coalesce(simulated, 0) AS simulated, checked, why, turn_ok, status,
       tokens::BIGINT AS tokens, cost, coalesce(resent, 0)::BIGINT AS resent, e.ended_at
FROM (
  SELECT source, session_id, file_id, arm, task, repeat_no FROM sessions
  WHERE trial_run = $run AND arm IS NOT NULL AND NOT duplicate
) s
JOIN ended e USING (source, session_id)
LEFT JOIN called c USING (source, session_id)
ORDER BY e.ended_at NULLS LAST, arm, task, repeat_no
