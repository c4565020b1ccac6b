-- Run after concerned.sql, before any row is removed. Saves the ids of the turns and calls of the sessions in
-- `touched_sessions`.

CREATE TEMP TABLE touched_turns AS
SELECT DISTINCT turn_id FROM turns
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

CREATE TEMP TABLE touched_calls AS
SELECT DISTINCT call_id FROM tool_calls
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

-- Days whose sums are recomputed from all rows.
CREATE TEMP TABLE touched_days (day DATE);

-- Turns to judge again.
CREATE TEMP TABLE late_turns (turn_id VARCHAR);
