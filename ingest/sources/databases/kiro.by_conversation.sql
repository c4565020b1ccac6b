-- Kiro CLI, `data.sqlite3`, newer table: all conversations of a folder.
-- conversation: conversations_v2(key, conversation_id, value)
SELECT 'conversation', rowid
FROM conversations_v2
ORDER BY rowid
