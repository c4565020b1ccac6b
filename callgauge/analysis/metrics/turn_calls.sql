-- title: Calls of one turn
-- question: Which calls are in the turn, in order, and which form a retry sequence?
-- unit: one row per call; copies in repeated transcripts are left out
-- note: A retry is the same tool called again after a failure, in a later step of the turn, or a call that the log names as a retry. A failed call and its retries form one retry sequence.
-- column chain: number of the retry sequence within the turn, by its first call; NULL = none
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
