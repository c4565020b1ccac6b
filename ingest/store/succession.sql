-- Run after followed.sql and before touched.sql. Finds the sessions and turns of a file's earlier contents that its new content
-- repeats. remove_repeated.sql removes their older rows. Fills two tables:
-- - `repeated_sessions` (old, source, session_id, new, new_session_id): the content `new` has the session from its first turn,
--   so its rows replace those of the content `old`
-- - `repeated_turns` (old, new, source, session_id, turn_id): `new` lacks the session's first turn, so only the turns that it
--   repeats are replaced

CREATE TEMP TABLE common_sessions AS
SELECT DISTINCT f.old, f.new, o.source, o.session_id
FROM followed f
JOIN sessions o ON o.file_id = f.old
JOIN sessions n ON n.file_id = f.new AND n.source = o.source AND n.session_id = o.session_id;

-- The first 16 digits of a turn_id are the turn's position. A turn at the same position is repeated if it has the same time or
-- the same first message. Otherwise the log has restarted its numbering, and it is another turn.
CREATE TEMP TABLE matched_turns AS
SELECT
    s.*, o.turn_id, o.turn,
    coalesce(bool_or(
        n.begun AND (
            NOT o.begun OR o.ts = n.ts OR o.user_text = n.user_text
            OR (o.ts IS NULL AND n.ts IS NULL AND o.user_text IS NULL AND n.user_text IS NULL)
        )
    ), false) AS is_repeated
FROM common_sessions s
JOIN turns o ON (o.file_id, o.source, o.session_id) = (s.old, s.source, s.session_id)
LEFT JOIN turns n ON n.file_id = s.new AND left(n.turn_id, 16) = left(o.turn_id, 16)
GROUP BY ALL;

INSERT INTO repeated_sessions
SELECT old, source, session_id, new, session_id FROM common_sessions
WHERE (old, new, source, session_id) NOT IN (SELECT (old, new, source, session_id) FROM matched_turns)
UNION
SELECT old, source, session_id, new, session_id FROM matched_turns
GROUP BY ALL HAVING arg_min(is_repeated, turn);

INSERT INTO repeated_turns
SELECT old, new, source, session_id, turn_id FROM matched_turns
WHERE is_repeated AND (old, source, session_id) NOT IN (SELECT (old, source, session_id) FROM repeated_sessions);

-- The session ID of some logs is a hash of the file's first bytes, so it changes with the content. Such sessions are matched by
-- the time and the message of their first turn.
CREATE TEMP TABLE same_first_turn AS
WITH
    first_turns AS (
        SELECT DISTINCT ON (s.file_id, s.source, s.session_id) s.file_id, s.source, s.session_id, t.ts, t.user_text
        FROM sessions s JOIN turns t USING (file_id, source, session_id)
        WHERE s.file_id IN (SELECT old FROM followed UNION SELECT new FROM followed)
            AND regexp_full_match(s.session_id, '[0-9a-f]{16}([/-].*)?')
        ORDER BY t.turn
    )
SELECT f.old, f.new, o.source, o.session_id, n.session_id AS new_session_id, o.ts
FROM followed f
JOIN first_turns o ON o.file_id = f.old
JOIN first_turns n ON n.file_id = f.new AND n.source = o.source AND n.user_text = o.user_text AND n.ts IS NOT DISTINCT FROM o.ts
WHERE (f.old, f.new, o.source, o.session_id) NOT IN (SELECT (old, new, source, session_id) FROM common_sessions)
    AND (f.old, f.new, n.source, n.session_id) NOT IN (SELECT (old, new, source, session_id) FROM common_sessions);

-- A matching session continues the old one if it begins with all calls of the old session. Else it continues the old one if the
-- turns have a time and neither session has another match.
INSERT INTO repeated_sessions
WITH
    compared_sessions AS (
        SELECT old AS file_id, source, session_id FROM same_first_turn
        UNION SELECT new, source, new_session_id FROM same_first_turn
    ),
    session_calls AS (
        SELECT
            file_id, source, session_id,
            list(
                [c.turn::VARCHAR, c.step::VARCHAR, c.ordinal::VARCHAR, coalesce(c.tool, ''), md5(coalesce(c.raw_arguments, ''))]
                ORDER BY c.turn, c.step, c.ordinal
            ) AS calls
        FROM compared_sessions JOIN tool_calls c USING (file_id, source, session_id)
        GROUP BY ALL
    ),
    pairs AS (
        SELECT
            b.*,
            coalesce(n.calls[1:len(o.calls)] = o.calls, o.calls IS NULL) AS is_continued,
            b.ts IS NOT NULL AND count(*) OVER (PARTITION BY b.old, b.new, b.source, b.session_id) = 1
                AND count(*) OVER (PARTITION BY b.old, b.new, b.source, b.new_session_id) = 1 AS is_only_match
        FROM same_first_turn b
        LEFT JOIN session_calls o ON (o.file_id, o.source, o.session_id) = (b.old, b.source, b.session_id)
        LEFT JOIN session_calls n ON (n.file_id, n.source, n.session_id) = (b.new, b.source, b.new_session_id)
    )
SELECT DISTINCT ON (old, source, session_id) old, source, session_id, new, new_session_id FROM pairs
WHERE is_continued OR is_only_match
ORDER BY is_continued DESC, new_session_id;
