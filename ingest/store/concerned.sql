-- Before anything is changed: the files and sessions of which a load, or what else changes the store, may change a fact.
-- Needs the load's rows, `replaced` and `touched_also` (file_id). Leaves `concerned_files` (file_id) and
-- `concerned_sessions` (source, session_id); after it, a load looks at no other facts.

CREATE TEMP TABLE concerned_files AS
WITH RECURSIVE
    chain (file_id) AS (
        SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs)
        UNION
        SELECT f.follows FROM chain JOIN files f USING (file_id) WHERE f.follows IS NOT NULL
    )
FROM chain UNION FROM replaced UNION FROM touched_also;

CREATE TEMP TABLE concerned_sessions AS
WITH
    turns_of AS (SELECT turn_id, source, session_id FROM stored_turns WHERE file_id IN (FROM concerned_files)),
    calls_of AS (SELECT call_id, source, session_id FROM stored_tool_calls WHERE file_id IN (FROM concerned_files))
SELECT source, session_id FROM stored_sessions WHERE file_id IN (FROM concerned_files)
UNION
SELECT source, session_id FROM turns_of
UNION
SELECT source, session_id FROM calls_of
UNION
SELECT source, session_id FROM stored_turns WHERE turn_id IN (SELECT turn_id FROM turns_of)
UNION
SELECT source, session_id FROM stored_tool_calls WHERE call_id IN (SELECT call_id FROM calls_of);
