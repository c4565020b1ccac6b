-- title: One call
-- question: What is stored about one call?
-- unit: at most one row
-- note: Links made before schema version 6 contain only the first 16 digits of a call's id.
-- column file: the file that contains the call
-- column line: the line of the call in the file
-- column byte_offset: the position of the call in the file, in bytes
SELECT c.* EXCLUDE (own_arguments, as_sent)
           REPLACE (c.line - coalesce(m.line - 1, 0) AS line, c.byte_offset - coalesce(m.byte_offset, 0) AS byte_offset),
       coalesce(m.path, f.path) AS file, d.definition,
       t.user_text, t.answer_text, t.recorded_status, t.recorded_ok, t.derived_ok, t.derived_reason,
       t.prompt_hash
FROM tool_calls c
LEFT JOIN files f ON f.file_id = c.file_id
ASOF LEFT JOIN file_members m ON m.file_id = c.file_id AND m.byte_offset <= c.byte_offset
LEFT JOIN (SELECT definition_id, any_value(definition) AS definition FROM tool_definitions GROUP BY 1) d USING (definition_id)
LEFT JOIN turns t ON t.turn_id = c.turn_id AND t.file_id = c.file_id
WHERE c.call_id = $call OR (length($call) = 16 AND starts_with(c.call_id, $call))
ORDER BY c.call_id = $call DESC, coalesce(c.duplicate, false), c.file_id
LIMIT 1
