-- After concerned.sql: the turns and calls of the sessions in `touched_sessions`, before anything is removed.

CREATE TEMP TABLE touched_turns AS
SELECT DISTINCT turn_id FROM turns
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

CREATE TEMP TABLE touched_calls AS
SELECT DISTINCT call_id FROM tool_calls
SEMI JOIN (FROM sessions SEMI JOIN touched_sessions USING (source, session_id)) USING (file_id, source, session_id);

-- Days to be summed up whole.
CREATE TEMP TABLE touched_days (day DATE);

-- Rejects that an earlier load met: at the same place of what the file held, or with the same words in a content that the
-- present one follows.
INSERT INTO known_rejects
SELECT r.new, j.byte_offset, j.code, NULL FROM reread r JOIN rejects j ON j.file_id = r.old
UNION ALL
SELECT f.file_id, NULL, j.code, j.reason FROM files f JOIN rejects j ON j.file_id = f.follows
WHERE f.run_id = (SELECT max(run_id) FROM ingest_runs);

-- Turns to be concluded anew.
CREATE TEMP TABLE late_turns (turn_id VARCHAR);
