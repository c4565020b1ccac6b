-- Run after adopt_parts.sql. Finds the touched calls, turns and sessions that have several rows or a row marked as duplicate.
-- Usually there are none, and copies.sql is skipped.

INSERT INTO copied_calls
SELECT call_id FROM tool_calls SEMI JOIN concerned_files USING (file_id) WHERE call_id IN (FROM touched_calls)
GROUP BY call_id HAVING count(*) > 1 OR bool_or(duplicate);

INSERT INTO copied_turns
SELECT turn_id FROM turns SEMI JOIN concerned_files USING (file_id) WHERE turn_id IN (FROM touched_turns)
GROUP BY turn_id HAVING count(*) > 1 OR bool_or(duplicate);

INSERT INTO copied_sessions
SELECT source, session_id FROM sessions WHERE (source, session_id) IN (FROM touched_sessions)
GROUP BY source, session_id HAVING count(*) > 1 OR bool_or(duplicate) OR sum(duplicate_calls) > 0;
