-- title: Messages up to a step
-- question: Which messages, calls and results does the session contain up to the end of this step?
-- unit: one row per message or call, in order
-- note: The store contains only the first 2,000 characters of messages, answers and results.
-- column kind: user, said (text of the model), call or answer
-- column raw: raw arguments of a call; the decoded arguments if the raw text is missing
WITH known AS (
  SELECT turn_id, turn, user_text, answer_text, file_id FROM turns
  WHERE session_id = $session AND source = $source AND turn <= $turn AND NOT coalesce(duplicate, false)
)
SELECT turn, -1 AS step, -2 AS ordinal, 'user' AS kind, user_text AS text, NULL AS call_id, NULL AS tool, NULL AS tool_call_id, NULL AS raw, NULL AS result
FROM known WHERE user_text IS NOT NULL
UNION ALL
SELECT turn, NULL, 0, 'answer', answer_text, NULL, NULL, NULL, NULL, NULL FROM known WHERE answer_text IS NOT NULL AND turn < $turn
UNION ALL
SELECT DISTINCT t.turn, coalesce(t.step, 0), -1, 'said', t.text, NULL, NULL, NULL, NULL, NULL
FROM step_texts t SEMI JOIN known USING (turn_id)
WHERE t.session_id = $session AND t.source = $source AND (t.turn < $turn OR (t.turn = $turn AND coalesce(t.step, 0) <= $step))
UNION ALL
SELECT turn, coalesce(step, 0), ordinal, 'call', NULL, call_id, coalesce(tool_sent, tool), tool_call_id, coalesce(raw_arguments, arguments), result_text
FROM tool_calls
WHERE session_id = $session AND source = $source AND (turn < $turn OR (turn = $turn AND coalesce(step, 0) <= $step)) AND NOT coalesce(duplicate, false)
ORDER BY turn, step NULLS LAST, ordinal, call_id
