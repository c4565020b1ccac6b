-- title: Text of steps
-- question: Which text did the model write in these steps of a session, in addition to its calls?
-- unit: one row per step, from $first_step of $first_turn to $last_step of $last_turn
-- note: The store contains only the first 2,000 characters of each text. The final answer belongs to the turn, so it is not listed here.
WITH told AS (
  SELECT t.turn_id, t.turn, coalesce(t.step, 0) AS step, t.ts, t.text, t.file_id, t.line, t.byte_offset, o.file_id AS counts
  FROM step_texts t JOIN turns o ON o.turn_id = t.turn_id AND o.session_id = t.session_id AND NOT coalesce(o.duplicate, false)
  WHERE t.session_id = $session AND t.source = $source
    AND (t.turn > $first_turn OR (t.turn = $first_turn AND coalesce(t.step, 0) >= $first_step)) AND (t.turn < $last_turn OR (t.turn = $last_turn AND coalesce(t.step, 0) <= $last_step))
  QUALIFY rank() OVER (PARTITION BY t.turn_id, t.step ORDER BY t.file_id IS DISTINCT FROM o.file_id, t.file_id) = 1
)
SELECT turn_id, turn, step, min(ts) AS ts, string_agg(text, chr(10) ORDER BY line, byte_offset) AS text
FROM told GROUP BY ALL ORDER BY turn, turn_id, step
