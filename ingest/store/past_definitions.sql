-- Returns the tool definitions that a file's content `$file_id` and its earlier contents offered for the called tools. If a
-- session offered several definitions of a tool, the definition of the tool's last call counts.
WITH RECURSIVE
    contents (file_id) AS (
        SELECT $file_id::INTEGER
        UNION
        SELECT f.follows FROM contents JOIN files f USING (file_id) WHERE f.follows IS NOT NULL
    ),
    called AS (
        SELECT session_id, tool, arg_max(definition_id, (turn, step, ordinal)) AS definition_id
        FROM stored_tool_calls
        WHERE file_id IN (FROM contents) AND source = (SELECT source FROM files WHERE file_id = $file_id)
            AND definition_origin = 'log'
        GROUP BY session_id, tool
    )
SELECT
    session_id, d.definition_id, any_value(d.tool) AS tool, any_value(d.description) AS description,
    any_value(d.definition) AS definition
FROM called JOIN tool_definitions d USING (definition_id)
GROUP BY session_id, d.definition_id
ORDER BY session_id, tool
