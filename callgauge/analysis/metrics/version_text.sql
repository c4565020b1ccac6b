-- title: Text of a version
-- question: What is the text of this version of a prompt or tool?
-- unit: one row
-- column definition: definition of a tool as canonical JSON; the column text then holds the description of the tool
SELECT text, NULL AS definition FROM prompt_texts WHERE $kind = 'prompt' AND prompt_id = $id AND text_hash = $hash
UNION ALL
SELECT description, definition FROM tool_definitions WHERE $kind = 'tool' AND definition_id = $id
LIMIT 1
