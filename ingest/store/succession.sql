-- After followed.sql, before touched.sql: what the contents that this load read tell again of the contents that their files had before.
-- Fills `retold_sessions` (old, source, session_id, new, told_as): sessions told from their beginning, which replace what
-- the content `old` held of them; and `retold_turns` (old, new, source, session_id, turn_id): turns of a session that
-- goes on.

CREATE TEMP TABLE shared AS
SELECT DISTINCT f.old, f.new, o.source, o.session_id
FROM followed f
JOIN sessions o ON o.file_id = f.old
JOIN sessions n ON n.file_id = f.new AND n.source = o.source AND n.session_id = o.session_id;

-- A turn at the same place that began with other words at another time is another turn: the log counts anew.
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
LEFT JOIN turns n ON n.file_id = s.new AND left(n.turn_id, 16) = left(o.turn_id, 16)
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
CREATE TEMP TABLE begun_alike AS
WITH
    begun AS (
        SELECT DISTINCT ON (s.file_id, s.source, s.session_id) s.file_id, s.source, s.session_id, t.ts, t.user_text
        FROM sessions s JOIN turns t USING (file_id, source, session_id)
        WHERE s.file_id IN (SELECT old FROM followed UNION SELECT new FROM followed)
            AND regexp_full_match(s.session_id, '[0-9a-f]{16}([/-].*)?')
        ORDER BY t.turn
    )
SELECT f.old, f.new, o.source, o.session_id, n.session_id AS told_as, o.ts
FROM followed f
JOIN begun o ON o.file_id = f.old
JOIN begun n ON n.file_id = f.new AND n.source = o.source AND n.user_text = o.user_text AND n.ts IS NOT DISTINCT FROM o.ts
WHERE (f.old, f.new, o.source, o.session_id) NOT IN (SELECT (old, new, source, session_id) FROM shared)
    AND (f.old, f.new, n.source, n.session_id) NOT IN (SELECT (old, new, source, session_id) FROM shared);

INSERT INTO retold_sessions
WITH
    wanted AS (
        SELECT old AS file_id, source, session_id FROM begun_alike
        UNION SELECT new, source, told_as FROM begun_alike
    ),
    made AS (
        SELECT
            file_id, source, session_id,
            list(
                [c.turn::VARCHAR, c.step::VARCHAR, c.ordinal::VARCHAR, coalesce(c.tool, ''), md5(coalesce(c.raw_arguments, ''))]
                ORDER BY c.turn, c.step, c.ordinal
            ) AS calls
        FROM wanted JOIN tool_calls c USING (file_id, source, session_id)
        GROUP BY ALL
    ),
    pairs AS (
        SELECT
            b.*,
            coalesce(n.calls[1:len(o.calls)] = o.calls, o.calls IS NULL) AS goes_on,
            b.ts IS NOT NULL AND count(*) OVER (PARTITION BY b.old, b.new, b.source, b.session_id) = 1
                AND count(*) OVER (PARTITION BY b.old, b.new, b.source, b.told_as) = 1 AS only_one
        FROM begun_alike b
        LEFT JOIN made o ON (o.file_id, o.source, o.session_id) = (b.old, b.source, b.session_id)
        LEFT JOIN made n ON (n.file_id, n.source, n.session_id) = (b.new, b.source, b.told_as)
    )
SELECT DISTINCT ON (old, source, session_id) old, source, session_id, new, told_as FROM pairs
WHERE goes_on OR only_one
ORDER BY goes_on DESC, told_as;
