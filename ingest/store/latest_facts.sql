-- Run after concerned.sql and before copies_elsewhere.sql. Makes views of the calls and turns of the sessions that the last
-- search round found.

CREATE TEMP VIEW latest AS
SELECT file_id, source, session_id FROM stored_sessions
SEMI JOIN (FROM concerned_sessions WHERE round = (SELECT max(round) FROM concerned_sessions)) USING (source, session_id);

CREATE TEMP VIEW latest_calls AS
SELECT DISTINCT call_id FROM stored_tool_calls SEMI JOIN latest USING (file_id, source, session_id);

CREATE TEMP VIEW latest_turns AS
SELECT DISTINCT turn_id FROM stored_turns SEMI JOIN latest USING (file_id, source, session_id);
