-- Whatever this returns is wrong with the generation: (what, expected, found).

WITH
    held AS (
        SELECT file_id, count(*) AS n, 'sessions' AS what FROM sessions GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'turns' FROM turns GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'calls' FROM tool_calls GROUP BY file_id
        UNION ALL SELECT file_id, count(*), 'rejects' FROM rejects GROUP BY file_id
    ),
    recorded AS (
        SELECT file_id, unnest(['sessions', 'turns', 'calls', 'rejects']) AS what,
               unnest([sessions, turns, calls, rejects]) AS n
        FROM files
    )
SELECT what || ' of file ' || file_id, coalesce(recorded.n, 0), coalesce(held.n, 0)
FROM recorded FULL JOIN held USING (file_id, what)
WHERE coalesce(recorded.n, 0) <> coalesce(held.n, 0)

UNION ALL
SELECT 'calls in daily_calls', (SELECT count(*) FROM tool_calls WHERE NOT duplicate),
       (SELECT coalesce(sum(calls), 0) FROM daily_calls) AS found
WHERE (SELECT count(*) FROM tool_calls WHERE NOT duplicate) <> (SELECT coalesce(sum(calls), 0) FROM daily_calls)

UNION ALL
SELECT 'turns in daily_turns', (SELECT count(*) FROM turns WHERE NOT duplicate),
       (SELECT coalesce(sum(turns), 0) FROM daily_turns)
WHERE (SELECT count(*) FROM turns WHERE NOT duplicate) <> (SELECT coalesce(sum(turns), 0) FROM daily_turns);
