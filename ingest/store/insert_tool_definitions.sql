-- Adds each new tool definition once, because many files contain the same definition.
INSERT INTO tool_definitions BY NAME
SELECT DISTINCT ON (definition_id) * FROM incoming
WHERE definition_id NOT IN (SELECT definition_id FROM tool_definitions);
