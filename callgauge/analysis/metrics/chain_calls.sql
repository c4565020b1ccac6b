-- title: Calls of one retry sequence
-- question: Which calls belong to one retry sequence, in order, and which arguments did each call send?
-- unit: one row per call; rows that another file repeats are left out
-- column raw: the first 100,000 characters of the raw arguments
SELECT call_id, ts, turn, coalesce(step, 0) AS step, attempt, retry_kind, tool, outcome, fault_layer, result_status, chain_outcome,
       left(coalesce(raw_arguments, arguments, ''), 100000) AS raw, length(coalesce(raw_arguments, arguments, ''))::BIGINT AS length
FROM tool_calls
WHERE chain_id = $chain AND turn_id = $turn AND NOT coalesce(duplicate, false)
ORDER BY attempt, step, ordinal, call_id
LIMIT 200
