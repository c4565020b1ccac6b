-- title: Calls of steps
-- question: Which calls do these steps of a session contain, and what were their results?
-- unit: one row per call, from $first_step of $first_turn to $last_step of $last_turn; rows that another file repeats are left out
-- note: The requested call is always included. The tokens and the model's time are those of the whole step.
-- column raw: beginning of the raw arguments
-- column length: number of characters of the whole raw arguments
-- column result: beginning of the result
-- column result_bytes: size of the whole result
-- column found: number of all calls of these steps; this answer contains the first of them
SELECT call_id, turn_id, turn, coalesce(step, 0) AS step, ordinal, ts, tool, model, strategy, outcome, fault_layer,
       left(coalesce(parse_error, parse_warning), 300) AS finding, left(harness_message, 300) AS harness_message,
       left(coalesce(raw_arguments, arguments), 1000) AS raw, length(coalesce(raw_arguments, arguments))::BIGINT AS length, args_source,
       result_status, left(result_text, 1000) AS result, result_bytes, latency_ms, model_latency_ms, input_tokens, output_tokens,
       chain_id, attempt, retry_kind, chain_outcome, (count(*) OVER ())::BIGINT AS found
FROM tool_calls
WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  AND (turn > $first_turn OR (turn = $first_turn AND coalesce(step, 0) >= $first_step)) AND (turn < $last_turn OR (turn = $last_turn AND coalesce(step, 0) <= $last_step))
QUALIFY row_number() OVER (ORDER BY coalesce(call_id = $call, false) DESC, turn, turn_id, coalesce(step, 0), ordinal, call_id) <= $limit
ORDER BY turn, turn_id, step, ordinal, call_id
