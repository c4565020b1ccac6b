-- Removes prompts, prompt texts, tool definitions and tool lists to which no row refers any more, because a file was read again
-- or sessions were deleted.

DELETE FROM prompt_texts WHERE NOT EXISTS (
    FROM stored_turns t WHERE t.prompt_id = prompt_texts.prompt_id AND t.prompt_hash = prompt_texts.text_hash
);

DELETE FROM prompts WHERE NOT EXISTS (FROM stored_turns t WHERE t.prompt_id = prompts.prompt_id)
    AND NOT EXISTS (FROM stored_tool_calls c WHERE c.prompt_id = prompts.prompt_id);

UPDATE prompts SET text = NULL, text_hash = NULL
WHERE NOT EXISTS (
    FROM prompt_texts p WHERE p.prompt_id = prompts.prompt_id AND p.text_hash = prompts.text_hash
);

UPDATE prompts SET text = remaining.text, text_hash = remaining.text_hash
FROM (SELECT DISTINCT ON (prompt_id) * FROM prompt_texts ORDER BY prompt_id, text_hash) remaining
WHERE remaining.prompt_id = prompts.prompt_id AND prompts.text IS NULL;

DELETE FROM tool_definitions WHERE NOT EXISTS (
    FROM stored_tool_calls c WHERE c.definition_id = tool_definitions.definition_id
);

DELETE FROM tool_lists WHERE NOT EXISTS (FROM stored_turns t WHERE t.tool_list = tool_lists.tool_list);
