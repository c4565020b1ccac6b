-- Divides the turns in `wanted` (turn_id) into batches of about `$batch_bytes` bytes. The size of a call is the length of its
-- arguments and its result, plus `$call_bytes`.
CREATE TEMP TABLE queue AS
WITH sized AS (
    SELECT w.turn_id, min(c.rowid) AS first,
           sum($call_bytes + coalesce(strlen(raw_arguments), 0) + coalesce(strlen(result_text), 0)) AS size
    FROM wanted w LEFT JOIN tool_calls c USING (turn_id) GROUP BY w.turn_id
)
SELECT turn_id, (sum(coalesce(size, $call_bytes)) OVER (
    ORDER BY first, turn_id ROWS UNBOUNDED PRECEDING
) // $batch_bytes)::INTEGER AS batch
FROM sized;
