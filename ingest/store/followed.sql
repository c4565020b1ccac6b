-- Run before concerned.sql. Lists the earlier contents of this load's files in `followed` (old, new). Adds to `touched_sessions`
-- the sessions of earlier contents that may be the same as a session of this load with another ID (see succession.sql).

CREATE TEMP TABLE followed AS
WITH RECURSIVE contents (old, new) AS (
    SELECT follows, file_id FROM files
    WHERE follows IS NOT NULL AND run_id = (SELECT max(run_id) FROM ingest_runs)
    UNION
    SELECT f.follows, contents.new FROM contents JOIN files f ON f.file_id = contents.old WHERE f.follows IS NOT NULL
)
SELECT contents.* FROM contents JOIN files f ON f.file_id = contents.old WHERE f.status = 'earlier';

INSERT INTO touched_sessions
WITH
    compared_files AS (
        SELECT old, new AS file_id FROM followed
        UNION
        SELECT f.old, r.old FROM followed f JOIN reread r USING (new)
    ),
    hash_id_turns AS (
        SELECT file_id, source, session_id, ts, user_text FROM stored_turns
        WHERE file_id IN (SELECT old FROM followed UNION SELECT file_id FROM compared_files)
            AND regexp_full_match(session_id, '[0-9a-f]{16}([/-].*)?')
    )
SELECT DISTINCT o.source, o.session_id
FROM compared_files t
JOIN hash_id_turns o ON o.file_id = t.old
JOIN hash_id_turns n ON n.file_id = t.file_id AND n.source = o.source
    AND n.user_text = o.user_text AND n.ts IS NOT DISTINCT FROM o.ts;
