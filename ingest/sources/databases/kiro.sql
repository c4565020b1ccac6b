-- Kiro CLI and Amazon Q CLI, `data.sqlite3`, older table: one conversation a folder.
-- conversation: conversations(key, value)
SELECT 'conversation', rowid
FROM conversations
WHERE value IS NOT NULL
ORDER BY rowid
