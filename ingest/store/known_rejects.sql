-- After touched.sql, where files were read again or got other content.
-- Rejects that an earlier load met: at the same place of what the file held, or with the same words in a content that the
-- present one follows.
INSERT INTO known_rejects
SELECT r.new, j.byte_offset, j.code, NULL FROM reread r JOIN rejects j ON j.file_id = r.old
UNION ALL
SELECT f.file_id, NULL, j.code, j.reason FROM files f JOIN rejects j ON j.file_id = f.follows
WHERE f.run_id = (SELECT max(run_id) FROM ingest_runs);
