-- Run after touched.sql and remove_sessions.sql. Removes what remains of the sessions in `leaving` (source, session_id), and all
-- content that only they used.

DELETE FROM task_trials WHERE (source, session_id) IN (FROM leaving);

-- Trial runs without remaining sessions lose their plan and their interim analyses.
DELETE FROM trial_runs WHERE run IN (SELECT run FROM leaving_runs);
DELETE FROM trial_looks WHERE run IN (SELECT run FROM leaving_runs);

-- Sums of days whose rows were deleted are not recomputed and still refer to the signature, so only its text is removed.
UPDATE signatures SET text = NULL
WHERE signature_id IN (SELECT signature_id FROM leaving_calls)
    AND signature_id NOT IN (SELECT signature_id FROM stored_tool_calls WHERE signature_id IS NOT NULL);

-- A checkpoint may contain any content of its log. Without it, the log is read from its start when it grows.
DELETE FROM unfinished;

-- If another session of the same file has a copy of a call, the diagnostics stay.
DELETE FROM diagnostics
WHERE (call_id, file_id) IN (SELECT (call_id, file_id) FROM leaving_calls)
    AND (call_id, file_id) NOT IN (SELECT (call_id, file_id) FROM tool_calls WHERE file_id IN (FROM touched_also));

DELETE FROM tool_definitions
WHERE definition_id IN (SELECT definition_id FROM leaving_calls)
    AND definition_id NOT IN (SELECT definition_id FROM stored_tool_calls WHERE definition_id IS NOT NULL);

DELETE FROM tool_lists WHERE NOT EXISTS (FROM stored_turns t WHERE t.tool_list = tool_lists.tool_list);

DELETE FROM prompt_texts
WHERE (prompt_id, text_hash) IN (SELECT (prompt_id, text_hash) FROM leaving_texts WHERE text_hash IS NOT NULL)
    AND (prompt_id, text_hash) NOT IN (SELECT (prompt_id, prompt_hash) FROM stored_turns WHERE prompt_hash IS NOT NULL);

DELETE FROM prompts
WHERE prompt_id IN (SELECT prompt_id FROM leaving_texts)
    AND prompt_id NOT IN (SELECT prompt_id FROM stored_turns WHERE prompt_id IS NOT NULL)
    AND prompt_id NOT IN (SELECT prompt_id FROM stored_tool_calls WHERE prompt_id IS NOT NULL);

UPDATE prompts SET text = remaining.text, text_hash = remaining.text_hash
FROM (
    SELECT p.prompt_id, any_value(t.text) AS text, any_value(t.text_hash) AS text_hash
    FROM prompts p LEFT JOIN prompt_texts t USING (prompt_id)
    WHERE p.prompt_id IN (SELECT prompt_id FROM leaving_texts)
        AND (p.prompt_id, p.text_hash) NOT IN (SELECT (prompt_id, text_hash) FROM prompt_texts)
    GROUP BY p.prompt_id
) remaining
WHERE prompts.prompt_id = remaining.prompt_id;

-- An unreadable line has no session and may belong to a deleted one, so its quoted text is removed.
UPDATE rejects SET snippet = '', reason = 'removed by callgauge forget'
WHERE file_id IN (FROM touched_also) AND code <> 'orphan_result';

UPDATE files SET
    forgetful = true,
    sessions = (SELECT count(*) FROM stored_sessions s WHERE s.file_id = files.file_id),
    turns = (SELECT count(*) FROM stored_turns t WHERE t.file_id = files.file_id),
    calls = (SELECT count(*) FROM stored_tool_calls c WHERE c.file_id = files.file_id),
    rejects = (SELECT count(*) FROM rejects r WHERE r.file_id = files.file_id)
WHERE file_id IN (FROM touched_also);
