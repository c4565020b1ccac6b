-- Before concerned.sql: the contents that the files of this load had before (`followed`: old, new). Adds to
-- `touched_sessions` those of them that a session of the load may be under another id, see succession.sql.

CREATE TEMP TABLE followed AS
WITH RECURSIVE chain (old, new) AS (
    SELECT follows, file_id FROM files
    WHERE follows IS NOT NULL AND run_id = (SELECT max(run_id) FROM ingest_runs)
    UNION
    SELECT f.follows, chain.new FROM chain JOIN files f ON f.file_id = chain.old WHERE f.follows IS NOT NULL
)
SELECT chain.* FROM chain JOIN files f ON f.file_id = chain.old WHERE f.status = 'earlier';

INSERT INTO touched_sessions
WITH
    telling AS (
        SELECT old, new AS file_id FROM followed
        UNION
        SELECT f.old, r.old FROM followed f JOIN reread r USING (new)
    ),
    hashed AS (
        SELECT file_id, source, session_id, ts, user_text FROM stored_turns
        WHERE file_id IN (SELECT old FROM followed UNION SELECT file_id FROM telling)
            AND regexp_full_match(session_id, '[0-9a-f]{16}([/-].*)?')
    )
SELECT DISTINCT o.source, o.session_id
FROM telling t
JOIN hashed o ON o.file_id = t.old
JOIN hashed n ON n.file_id = t.file_id AND n.source = o.source AND n.user_text = o.user_text AND n.ts IS NOT DISTINCT FROM o.ts;
