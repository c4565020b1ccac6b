-- Whatever this returns is wrong with the generation: (what, expected, found).

WITH
    held AS (
        SELECT file_id, count(*) AS n, 'sessions' AS what FROM stored_sessions GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'turns' FROM stored_turns GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'calls' FROM stored_tool_calls GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'rejects' FROM rejects GROUP BY file_id
    ),
    recorded AS (
        SELECT file_id, unnest(['sessions', 'turns', 'calls', 'rejects']) AS what,
               unnest([sessions, turns, calls, rejects]) AS n
        FROM files
    ),
    -- Before it, facts may be gone whose sums stay.
    first_day AS (SELECT coalesce(max(facts_before), DATE '0001-01-01') FROM store_info)
SELECT what || ' of file ' || file_id, coalesce(recorded.n, 0), coalesce(held.n, 0)
FROM recorded FULL JOIN held USING (file_id, what)
WHERE coalesce(recorded.n, 0) <> coalesce(held.n, 0)

UNION ALL
SELECT 'calls in daily_calls', expected, found
FROM (
    SELECT
        (SELECT count(*) FROM stored_tool_calls WHERE NOT duplicate AND (day IS NULL OR day >= (FROM first_day))) AS expected,
        (SELECT coalesce(sum(calls), 0) FROM daily_calls WHERE day IS NULL OR day >= (FROM first_day)) AS found
)
WHERE expected <> found

UNION ALL
SELECT 'turns in daily_turns', expected, found
FROM (
    SELECT
        (SELECT count(*) FROM stored_turns WHERE NOT duplicate AND (day IS NULL OR day >= (FROM first_day))) AS expected,
        (SELECT coalesce(sum(turns), 0) FROM daily_turns WHERE day IS NULL OR day >= (FROM first_day)) AS found
)
WHERE expected <> found;
