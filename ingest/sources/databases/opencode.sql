-- OpenCode since 2026, `~/.local/share/opencode/opencode.db` (packages/opencode/src/session/session.sql.ts).
-- session: session(id, directory, time_created, parent_id?, version?)
-- message: message(id, session_id, time_created, data)
-- part: part(id, message_id, session_id, data)
SELECT record, place FROM (
    SELECT 'session' AS record, rowid AS place, id AS session_id, NULL AS made, NULL AS message_id, NULL AS part_id
    FROM session
    UNION ALL
    SELECT 'message', rowid, session_id, time_created, id, NULL
    FROM message
    UNION ALL
    SELECT 'part', part.rowid, coalesce(message.session_id, part.session_id), message.time_created, message.id, part.id
    FROM part
    LEFT JOIN message ON message.id = part.message_id
)
ORDER BY session_id, made, message_id, part_id
