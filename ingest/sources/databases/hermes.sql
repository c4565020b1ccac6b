-- Hermes, `~/.hermes/state.db`. The newest columns are not in older databases.
-- session: sessions(id, source, started_at, model?, parent_session_id?, ended_at?)
-- message: messages(id, session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
--     finish_reason?, active?, compacted?, display_kind?)
SELECT record, place FROM (
    SELECT 'session' AS record, rowid AS place, id AS session_id, NULL AS message_id
    FROM sessions
    UNION ALL
    SELECT 'message', rowid, session_id, id
    FROM messages
)
ORDER BY session_id, message_id
