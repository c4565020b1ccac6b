-- Goose since 2025-10, `~/.local/share/goose/sessions/sessions.db` (crates/goose/src/session/session_manager.rs).
-- session: sessions(id, working_dir, created_at?, provider_name?, model_config_json?)
-- message: messages(id, session_id, role, content_json, created_timestamp, metadata_json?)
SELECT record, place FROM (
    SELECT 'session' AS record, rowid AS place, id AS session_id, NULL AS message_id
    FROM sessions
    UNION ALL
    SELECT 'message', rowid, session_id, id
    FROM messages
)
ORDER BY session_id, message_id
