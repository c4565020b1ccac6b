-- Tool definitions, which many files tell: each once.
INSERT INTO tool_definitions BY NAME
SELECT DISTINCT ON (definition_id) * FROM incoming
WHERE definition_id NOT IN (SELECT definition_id FROM tool_definitions);
