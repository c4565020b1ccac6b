-- After concerned.sql: the turns and calls of the sessions in `touched_sessions`, before anything is removed.

CREATE TEMP TABLE touched_turns AS
SELECT DISTINCT turn_id FROM turns
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

CREATE TEMP TABLE touched_calls AS
SELECT DISTINCT call_id FROM tool_calls
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

-- Days to be summed up whole.
CREATE TEMP TABLE touched_days (day DATE);

-- Turns to be concluded anew.
CREATE TEMP TABLE late_turns (turn_id VARCHAR);
