-- After the rows and the ledger of a load are written, before anything is changed: the sessions of which the load may
-- change a fact. `touched_sessions` (source, session_id): those of the files that were read, replaced or named in
-- `touched_also`. `concerned_sessions`: with them, those that hold copies of their calls and turns; the whole store is
-- searched for them (copies_elsewhere.sql). After this a load reads no rows of other sessions.

CREATE TEMP TABLE touched_files AS
FROM replaced UNION FROM touched_also UNION FROM new_files;

INSERT INTO touched_sessions
SELECT source, session_id FROM stored_sessions WHERE file_id IN (FROM touched_files) EXCEPT FROM touched_sessions;

INSERT INTO concerned_sessions SELECT *, 0 FROM touched_sessions;
