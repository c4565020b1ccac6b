-- title: Outline of one session
-- question: Which steps of the session contain calls or text, and where did the session fail?
-- unit: one row per call, and one row per step with text; rows that another file repeats are left out
-- column call_id: id of the call; NULL if the row is a text
SELECT turn_id, turn, coalesce(step, 0) AS step, ordinal, call_id, tool, outcome, fault_layer, chain_id, attempt, chain_outcome
FROM tool_calls
WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
UNION ALL BY NAME
SELECT DISTINCT t.turn_id, t.turn, coalesce(t.step, 0) AS step
FROM step_texts t SEMI JOIN turns o ON o.turn_id = t.turn_id AND o.session_id = t.session_id AND NOT coalesce(o.duplicate, false)
WHERE t.session_id = $session AND t.source = $source
ORDER BY turn, turn_id, step, call_id IS NOT NULL, ordinal, call_id
