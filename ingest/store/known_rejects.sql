-- Run after touched.sql if files were read again or have new content. Lists the unreadable lines that earlier loads reported, so
-- that a load reports only new ones. A line is known by its position if its file was read again, and by its reason if its file
-- has new content.
INSERT INTO known_rejects
SELECT r.new, j.byte_offset, j.code, NULL FROM reread r JOIN rejects j ON j.file_id = r.old
UNION ALL
SELECT f.file_id, NULL, j.code, j.reason FROM files f JOIN rejects j ON j.file_id = f.follows
WHERE f.run_id = (SELECT max(run_id) FROM ingest_runs);
