-- title: Calls of retry sequences
-- question: Which calls are in the retry sequences that begin with these calls?
-- unit: one row per call; rows that another file repeats are left out
-- column first_call: id of the first call of the sequence
-- column preview: 200 characters of the raw arguments
-- $calls: ids of the first calls; $sessions: their sessions; $since: the earliest day of their calls.
WITH own AS NOT MATERIALIZED (
  FROM tool_calls
  WHERE list_contains($sessions::VARCHAR[], session_id) AND ($since IS NULL OR day >= $since OR day IS NULL)
    AND chain_id IS NOT NULL AND NOT coalesce(duplicate, false)
),
firsts AS (SELECT call_id AS first_call, chain_id, turn_id FROM own WHERE list_contains($calls::VARCHAR[], call_id))
SELECT first_call, call_id, session_id, ts, model, attempt, retry_kind, fault_layer,
       left(coalesce(raw_arguments, arguments, ''), 200) AS preview
FROM own JOIN firsts USING (chain_id, turn_id)
ORDER BY first_call, attempt, coalesce(step, 0), ordinal, call_id
LIMIT coalesce($limit, 200)
