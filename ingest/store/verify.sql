-- Returns the wrong counts of a store file as (what, expected, found). Checks the files in `verified_files` (file_id), the days
-- in `verified_days` (day), and all rows without a day. The sums to check are in `compared_calls` and `compared_turns`.
-- verify_all.sql or verify_changes.sql makes these tables and views.

WITH
    stored_counts AS (
        SELECT file_id, count(*) AS n, 'sessions' AS what FROM stored_sessions SEMI JOIN verified_files USING (file_id)
        GROUP BY file_id
        UNION ALL
        SELECT file_id, count(*), 'turns' FROM stored_turns SEMI JOIN verified_files USING (file_id) GROUP BY file_id
        UNION ALL
        SELECT file_id, count(*), 'calls' FROM stored_tool_calls SEMI JOIN verified_files USING (file_id) GROUP BY file_id
        UNION ALL
        SELECT file_id, count(*), 'rejects' FROM rejects SEMI JOIN verified_files USING (file_id) GROUP BY file_id
    ),
    file_counts AS (
        SELECT file_id, unnest(['sessions', 'turns', 'calls', 'rejects']) AS what,
               unnest([sessions, turns, calls, rejects]) AS n
        FROM files SEMI JOIN verified_files USING (file_id)
    ),
    counted_days AS (
        SELECT 'calls in daily_calls' AS what, count(*) AS expected, 0 AS found
        FROM stored_tool_calls SEMI JOIN verified_days USING (day) WHERE NOT duplicate
        UNION ALL
        SELECT 'calls in daily_calls', count(*), 0 FROM stored_tool_calls WHERE day IS NULL AND NOT duplicate
        UNION ALL
        SELECT 'calls in daily_calls', 0, coalesce(sum(calls), 0) FROM compared_calls SEMI JOIN verified_days USING (day)
        UNION ALL
        SELECT 'calls in daily_calls', 0, coalesce(sum(calls), 0) FROM compared_calls WHERE day IS NULL
        UNION ALL
        SELECT 'turns in daily_turns', count(*), 0
        FROM stored_turns SEMI JOIN verified_days USING (day) WHERE NOT duplicate
        UNION ALL
        SELECT 'turns in daily_turns', count(*), 0 FROM stored_turns WHERE day IS NULL AND NOT duplicate
        UNION ALL
        SELECT 'turns in daily_turns', 0, coalesce(sum(turns), 0) FROM compared_turns SEMI JOIN verified_days USING (day)
        UNION ALL
        SELECT 'turns in daily_turns', 0, coalesce(sum(turns), 0) FROM compared_turns WHERE day IS NULL
    )
SELECT what || ' of file ' || file_id, coalesce(file_counts.n, 0), coalesce(stored_counts.n, 0)
FROM file_counts FULL JOIN stored_counts USING (file_id, what)
WHERE coalesce(file_counts.n, 0) <> coalesce(stored_counts.n, 0)

UNION ALL
SELECT what, sum(expected)::BIGINT, sum(found)::BIGINT FROM counted_days
GROUP BY what HAVING sum(expected) <> sum(found);
