-- title: A definition to read calls by
-- question: What does the definition of this id say?
-- unit: at most one row
SELECT tool, coalesce(description, '') AS description, definition
FROM tool_definitions WHERE definition_id = $definition
LIMIT 1
