-- title: Turns of one session
-- question: Which turns does the session contain, and how did each turn end?
-- unit: one row per turn; rows that another file repeats are left out
-- column latency_ms: time of the whole turn
-- column model_latency_ms: time that the model took in the turn
-- $first_day, $last_day: the days of the session, if known.
SELECT turn_id, turn, ts, ended_at, provider, model, prompt_id, prompt_hash, coalesce(steps, 0)::BIGINT AS steps,
       coalesce(calls, 0)::BIGINT AS calls, coalesce(faults, 0)::BIGINT AS faults, coalesce(retries, 0)::BIGINT AS retries,
       recorded_status, recorded_ok, derived_ok, derived_reason, input_tokens, output_tokens, latency_ms, model_latency_ms, file_id, line
FROM turns
WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  AND ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
ORDER BY turn, ts, file_id, line, turn_id
