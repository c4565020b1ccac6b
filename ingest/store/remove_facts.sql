-- Run after remove_sessions.sql. Removes the diagnostics of the removed calls and updates the counts of their files. The daily
-- sums stay and are not recomputed. Duplicates in the remaining sessions stay duplicates, because the daily sums still count the
-- removed originals.

DELETE FROM diagnostics
WHERE (call_id, file_id) IN (SELECT (call_id, file_id) FROM leaving_calls)
    AND (call_id, file_id) NOT IN (SELECT (call_id, file_id) FROM tool_calls WHERE file_id IN (FROM leaving_files));

UPDATE files SET
    sessions = (SELECT count(*) FROM stored_sessions s WHERE s.file_id = files.file_id),
    turns = (SELECT count(*) FROM stored_turns t WHERE t.file_id = files.file_id),
    calls = (SELECT count(*) FROM stored_tool_calls c WHERE c.file_id = files.file_id),
    rejects = (SELECT count(*) FROM rejects r WHERE r.file_id = files.file_id)
WHERE file_id IN (FROM leaving_files);
