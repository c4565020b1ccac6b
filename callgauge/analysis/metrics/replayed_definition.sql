-- title: A definition for a replay
-- question: What is the definition with this id?
-- unit: at most one row
SELECT tool, coalesce(description, '') AS description, definition
FROM tool_definitions WHERE definition_id = $definition
LIMIT 1
