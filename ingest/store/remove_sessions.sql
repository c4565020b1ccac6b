-- Run after leaving_rows.sql. Removes all rows of the sessions in `leaving` (source, session_id) except diagnostics, which
-- remove_facts.sql or forget.sql removes.

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
