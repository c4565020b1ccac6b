-- title: One call
-- question: What is known of one call?
-- unit: at most one row
-- note: Links of before schema 6 hold only the first 16 digits of a call's id, which its place gave.
-- column file: the log file that the call was read from, with line and byte_offset
SELECT c.* EXCLUDE (file_id), c.file_id, f.path AS file, d.definition,
       t.user_text, t.answer_text, t.recorded_status, t.recorded_ok, t.derived_ok, t.derived_reason,
       t.prompt_hash
FROM tool_calls c
LEFT JOIN files f USING (file_id)
LEFT JOIN (SELECT definition_id, any_value(definition) AS definition FROM tool_definitions GROUP BY 1) d USING (definition_id)
LEFT JOIN turns t ON t.turn_id = c.turn_id AND t.file_id = c.file_id
WHERE c.call_id = $call OR (length($call) = 16 AND starts_with(c.call_id, $call))
ORDER BY c.call_id = $call DESC, coalesce(c.duplicate, false), c.file_id
LIMIT 1
