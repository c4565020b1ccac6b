-- Divides the days in `touched_days` into batches. The parameter is the approximate number of calls per batch.
CREATE OR REPLACE TEMP TABLE all_days AS
SELECT day, (sum(calls) OVER (ORDER BY day ROWS UNBOUNDED PRECEDING) // ?)::INTEGER AS batch
FROM (
    SELECT t.day, count(c.call_id) AS calls
    FROM touched_days t LEFT JOIN tool_calls c ON c.day IS NOT DISTINCT FROM t.day
    GROUP BY t.day
);
