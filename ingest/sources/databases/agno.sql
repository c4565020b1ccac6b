-- Agno's SqliteDb: the table's name is the user's choice.
-- session: *(session_id, session_type, runs, agent_data?, user_id?, created_at?)
SELECT 'session', rowid
FROM {table}
WHERE runs IS NOT NULL
ORDER BY rowid
