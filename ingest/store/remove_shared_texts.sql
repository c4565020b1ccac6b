-- Run after remove_texts.sql. Removes texts of the sessions in `leaving` and `textless` (source, session_id) from the daily
-- sums. Also removes texts that no remaining turn or call with content uses.

UPDATE task_trials SET task_text = NULL
WHERE task_origin = 'first message' AND task_text IS NOT NULL
    AND ((source, session_id) IN (FROM leaving) OR (source, session_id) IN (FROM textless));

UPDATE daily_parameters SET parameter = regexp_replace(parameter, '\["(?:[^"\\]|\\.)*"\]', '["removed"]', 'g')
WHERE day < (SELECT text_before FROM limits) AND contains(parameter, '["');

DELETE FROM prompt_texts WHERE NOT EXISTS (
    FROM stored_turns t
    WHERE t.prompt_id = prompt_texts.prompt_id AND t.prompt_hash = prompt_texts.text_hash AND t.text_removed IS NULL
);

UPDATE prompts SET text = NULL
WHERE NOT EXISTS (
    FROM prompt_texts p WHERE p.prompt_id = prompts.prompt_id AND p.text_hash = prompts.text_hash
);

UPDATE prompts SET text = remaining.text, text_hash = remaining.text_hash
FROM (SELECT DISTINCT ON (prompt_id) * FROM prompt_texts ORDER BY prompt_id, text_hash) remaining
WHERE remaining.prompt_id = prompts.prompt_id AND prompts.text IS NULL;

-- Texts that begin with a diagnostic code, exit codes and "no reason logged" stay, because they quote no content.
UPDATE signatures SET text = NULL
WHERE text IS NOT NULL
    AND split_part(text, ':', 1) NOT IN (SELECT code FROM codes)
    AND NOT regexp_full_match(text, 'exit code -?\d+|no reason logged')
    AND signature_id NOT IN (
        SELECT signature_id FROM stored_tool_calls WHERE signature_id IS NOT NULL AND text_removed IS NULL
    );
