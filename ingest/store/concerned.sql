-- Run when a load has written its rows and the rows of `files`, before any other row changes. Finds the sessions whose rows the
-- load may change. A load reads no rows of other sessions.
-- - touched_sessions (source, session_id): sessions of the files that were read, replaced or named in `touched_also`
-- - concerned_sessions (source, session_id, round): touched sessions and all sessions with copies of their calls and turns.
--   copies_elsewhere.sql searches the whole store for these copies.

CREATE TEMP TABLE touched_files AS
FROM replaced UNION FROM touched_also UNION FROM new_files;

INSERT INTO touched_sessions
SELECT source, session_id FROM stored_sessions WHERE file_id IN (FROM touched_files) EXCEPT FROM touched_sessions;

INSERT INTO concerned_sessions SELECT *, 0 FROM touched_sessions;
