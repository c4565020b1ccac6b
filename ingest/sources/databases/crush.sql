-- Crush, and OpenCode as it was in Go: `.crush/crush.db`, `.opencode/opencode.db` in a project's folder.
-- session: sessions(id, created_at, parent_session_id?)
-- message: messages(id, session_id, role, parts, created_at, model?,
--     provider?, finished_at?, is_summary_message?)
SELECT record, place FROM (
    SELECT 'session' AS record, rowid AS place, id AS session_id, NULL AS made
    FROM sessions
    UNION ALL
    SELECT 'message', rowid, session_id, created_at
    FROM messages
)
ORDER BY session_id, made, place
