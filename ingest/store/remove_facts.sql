-- Every row of the sessions in `leaving` (source, session_id) goes. The daily sums stay: no day of theirs is counted anew.
-- Copies in sessions that stay are still copies, of calls that are counted in those sums.

CREATE OR REPLACE TEMP TABLE left_files AS
SELECT DISTINCT file_id FROM sessions SEMI JOIN leaving USING (source, session_id);

CREATE OR REPLACE TEMP TABLE leaving_calls AS
SELECT DISTINCT call_id, file_id FROM tool_calls SEMI JOIN leaving USING (source, session_id);

DELETE FROM rejects USING late_results l
WHERE rejects.code = 'orphan_result' AND (l.source, l.session_id) IN (FROM leaving)
    AND (rejects.file_id, rejects.line, rejects.byte_offset) = (l.file_id, l.line, l.byte_offset);

DELETE FROM tool_calls WHERE (source, session_id) IN (FROM leaving);
DELETE FROM step_texts WHERE (source, session_id) IN (FROM leaving);
DELETE FROM turns WHERE (source, session_id) IN (FROM leaving);
DELETE FROM turn_parts WHERE (source, session_id) IN (FROM leaving);
DELETE FROM late_results WHERE (source, session_id) IN (FROM leaving);
DELETE FROM probes WHERE (source, session_id) IN (FROM leaving);
DELETE FROM sessions WHERE (source, session_id) IN (FROM leaving);

DELETE FROM diagnostics
WHERE (call_id, file_id) IN (FROM leaving_calls)
    AND (call_id, file_id) NOT IN (SELECT (call_id, file_id) FROM tool_calls WHERE file_id IN (FROM left_files));

UPDATE files SET
    sessions = (SELECT count(*) FROM sessions s WHERE s.file_id = files.file_id),
    turns = (SELECT count(*) FROM turns t WHERE t.file_id = files.file_id),
    calls = (SELECT count(*) FROM tool_calls c WHERE c.file_id = files.file_id),
    rejects = (SELECT count(*) FROM rejects r WHERE r.file_id = files.file_id)
WHERE file_id IN (FROM left_files);
