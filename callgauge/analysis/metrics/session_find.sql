-- title: Search in one session
-- question: Where does a text occur in the session?
-- unit: one row per matching text: a message, an answer, a step's text, a tool name, arguments or a result
-- note: The search ignores case. The store contains the first 2,000 characters of messages, answers and results, and complete arguments.
-- column kind: user, said (text of the model), tool, arguments, result or answer
-- column snippet: text around the first match
-- column found: number of all matching texts; this answer contains the first of them
WITH texts AS (
  SELECT turn_id, turn, -1 AS step, 0 AS ordinal, NULL AS call_id, 'user' AS kind, user_text AS text FROM turns
  WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  UNION ALL
  SELECT turn_id, turn, 1000000000, 0, NULL, 'answer', answer_text FROM turns
  WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  UNION ALL
  SELECT DISTINCT t.turn_id, t.turn, coalesce(t.step, 0), -1, NULL, 'said', t.text
  FROM step_texts t SEMI JOIN turns o ON o.turn_id = t.turn_id AND o.session_id = t.session_id AND NOT coalesce(o.duplicate, false)
  WHERE t.session_id = $session AND t.source = $source
  UNION ALL
  SELECT turn_id, turn, coalesce(step, 0), ordinal, call_id, kind, text
  FROM (
    SELECT *, unnest(['tool', 'arguments', 'result']) AS kind,
           unnest([coalesce(tool_sent, tool), coalesce(raw_arguments, arguments), result_text]) AS text
    FROM tool_calls WHERE session_id = $session AND source = $source AND NOT coalesce(duplicate, false)
  )
),
hits AS (SELECT *, strpos(lower(text), lower($search)) AS place FROM texts WHERE contains(lower(text), lower($search)))
SELECT turn, CASE WHEN step BETWEEN 0 AND 999999999 THEN step END AS step, call_id, kind,
       CASE WHEN place > 60 THEN '…' ELSE '' END || substr(text, greatest(1, place - 60)::BIGINT, 200) AS snippet,
       (count(*) OVER ())::BIGINT AS found
FROM hits
ORDER BY turn, turn_id, hits.step, ordinal, call_id, kind
LIMIT $limit
