-- Before touched.sql: what the contents that this load read tell again of the contents that their files had before.
-- Fills `retold_sessions` (old, source, session_id, new, told_as): sessions told from their beginning, which replace what
-- the content `old` held of them; and `retold_turns` (old, new, source, session_id, turn_id): turns of a session that
-- goes on. Adds the files whose rows go to `touched_also`.

CREATE TEMP TABLE followed AS
WITH RECURSIVE chain (old, new, direct) AS (
    SELECT follows, file_id, true FROM files
    WHERE follows IS NOT NULL AND run_id = (SELECT max(run_id) FROM ingest_runs)
    UNION
    SELECT f.follows, chain.new, false FROM chain JOIN files f ON f.file_id = chain.old WHERE f.follows IS NOT NULL
)
SELECT chain.* FROM chain JOIN files f ON f.file_id = chain.old WHERE f.status = 'earlier';

CREATE TEMP TABLE shared AS
SELECT DISTINCT f.old, f.new, o.source, o.session_id
FROM followed f
JOIN sessions o ON o.file_id = f.old
JOIN sessions n ON n.file_id = f.new AND n.source = o.source AND n.session_id = o.session_id;

-- A turn of the same id that began with other words at another time is another turn: the log counts anew.
CREATE TEMP TABLE met AS
SELECT
    s.*, o.turn_id, o.turn,
    coalesce(bool_or(
        n.begun AND (
            NOT o.begun OR o.ts = n.ts OR o.user_text = n.user_text
            OR (o.ts IS NULL AND n.ts IS NULL AND o.user_text IS NULL AND n.user_text IS NULL)
        )
    ), false) AS retold
FROM shared s
JOIN turns o ON (o.file_id, o.source, o.session_id) = (s.old, s.source, s.session_id)
LEFT JOIN turns n ON n.file_id = s.new AND n.turn_id = o.turn_id
GROUP BY ALL;

INSERT INTO retold_sessions
SELECT old, source, session_id, new, session_id FROM shared
WHERE (old, new, source, session_id) NOT IN (SELECT (old, new, source, session_id) FROM met)
UNION
SELECT old, source, session_id, new, session_id FROM met
GROUP BY ALL HAVING arg_min(retold, turn);

INSERT INTO retold_turns
SELECT old, new, source, session_id, turn_id FROM met
WHERE retold AND (old, source, session_id) NOT IN (SELECT (old, source, session_id) FROM retold_sessions);

-- An id that was made of the file's first bytes changes with them: such a session goes on in one that begins with all of
-- its calls, or at the same time with the same words where only one does.
CREATE TEMP TABLE made AS
WITH
    files_of AS (
        SELECT old AS file_id, old, new, true AS is_old FROM followed WHERE direct
        UNION ALL SELECT new, old, new, false FROM followed WHERE direct
    ),
    alone AS (
        SELECT f.*, s.source, s.session_id FROM files_of f JOIN sessions s USING (file_id)
        WHERE regexp_full_match(s.session_id, '[0-9a-f]{16}([/-].*)?')
            AND (f.old, f.new, s.source, s.session_id) NOT IN (SELECT (old, new, source, session_id) FROM shared)
    ),
    begun AS (
        SELECT DISTINCT ON (a.file_id, a.old, a.source, a.session_id) a.*, t.ts, t.user_text
        FROM alone a JOIN turns t USING (file_id, source, session_id) ORDER BY t.turn
    )
SELECT
    b.*,
    list([c.turn::VARCHAR, c.step::VARCHAR, c.ordinal::VARCHAR, coalesce(c.tool, ''), md5(coalesce(c.raw_arguments, ''))]
        ORDER BY c.turn, c.step, c.ordinal) FILTER (c.call_id IS NOT NULL) AS calls
FROM begun b LEFT JOIN tool_calls c USING (file_id, source, session_id)
GROUP BY ALL;

INSERT INTO retold_sessions
WITH pairs AS (
    SELECT
        o.old, o.source, o.session_id, o.new, n.session_id AS told_as,
        coalesce(n.calls[1:len(o.calls)] = o.calls, o.calls IS NULL) AS goes_on,
        o.ts IS NOT NULL AND count(*) OVER (PARTITION BY o.old, o.source, o.session_id) = 1
            AND count(*) OVER (PARTITION BY o.old, n.source, n.session_id) = 1 AS only_one
    FROM made o
    JOIN made n ON n.old = o.old AND n.source = o.source AND n.user_text = o.user_text AND n.ts IS NOT DISTINCT FROM o.ts
    WHERE o.is_old AND NOT n.is_old
)
SELECT DISTINCT ON (old, source, session_id) old, source, session_id, new, told_as FROM pairs
WHERE goes_on OR only_one
ORDER BY goes_on DESC, told_as;

INSERT INTO touched_also SELECT old FROM retold_sessions UNION SELECT old FROM retold_turns;
