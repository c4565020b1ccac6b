-- title: Calls of one turn
-- question: Which calls does the turn contain, in order, and which calls form a retry sequence?
-- unit: one row per call; calls that a later transcript repeats are left out
-- note: A retry is a call of the same tool after a failure, in a later step of the turn, or a call that the log names as a retry. A failed call and its retries form one retry sequence.
-- column chain: number of the call's retry sequence within the turn, in the order of their first calls; NULL if the call is in no sequence
WITH calls AS (
  SELECT *, CASE WHEN chain_id IS NOT NULL THEN min((step, ordinal, call_id)) OVER (PARTITION BY chain_id) END AS begins
  FROM tool_calls WHERE turn_id = $turn AND NOT coalesce(duplicate, false)
)
SELECT call_id, step, ordinal, ts, tool, outcome, fault_layer, result_status,
       CASE WHEN chain_id IS NOT NULL THEN dense_rank() OVER (ORDER BY begins NULLS LAST) END::BIGINT AS chain,
       attempt, retry_kind, chain_outcome, left(coalesce(raw_arguments, arguments, ''), 200) AS preview
FROM calls
ORDER BY step, ordinal, call_id
LIMIT 500
