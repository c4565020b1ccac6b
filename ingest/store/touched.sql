-- After all files of a load are read: what the load touched, before anything is removed.
-- Leaves `touched_days` (day) for the rollups. Needs the temporary tables `replaced` (file_id) and `touched_also` (file_id).

CREATE TEMP TABLE touched_files AS
SELECT file_id FROM replaced
UNION
SELECT file_id FROM touched_also
UNION
SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs);

CREATE TEMP TABLE touched_sessions AS
SELECT DISTINCT source, session_id FROM sessions WHERE file_id IN (FROM touched_files);

CREATE TEMP TABLE touched_turns AS
SELECT DISTINCT turn_id FROM turns WHERE file_id IN (FROM touched_files);

CREATE TEMP TABLE touched_calls AS
SELECT DISTINCT call_id FROM tool_calls WHERE file_id IN (FROM touched_files);

CREATE TEMP TABLE touched_days AS
SELECT day FROM turns WHERE file_id IN (FROM touched_files)
UNION
SELECT day FROM tool_calls WHERE file_id IN (FROM touched_files);

-- Rejects that an earlier load met: at the same place of what the file held, or with the same words in a content that the
-- present one follows.
INSERT INTO known_rejects
SELECT r.new, j.byte_offset, j.code, NULL FROM reread r JOIN rejects j ON j.file_id = r.old
UNION ALL
SELECT f.file_id, NULL, j.code, j.reason FROM files f JOIN rejects j ON j.file_id = f.follows
WHERE f.run_id = (SELECT max(run_id) FROM ingest_runs);

-- Turns to be concluded anew.
CREATE TEMP TABLE late_turns (turn_id VARCHAR);
