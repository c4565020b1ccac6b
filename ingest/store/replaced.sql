-- Run after touched.sql and remove_repeated.sql. Removes all rows of the files in `replaced` (file_id), except late results:
-- take_back.sql needs these rows and removes them. Also removes rows of `copies` if their file is gone, or if their path is now
-- a file of its own. `reread` (old, new) lists files that were read again.

DELETE FROM diagnostics WHERE file_id IN (FROM replaced);
DELETE FROM tool_calls WHERE file_id IN (FROM replaced);
DELETE FROM step_texts WHERE file_id IN (FROM replaced);
DELETE FROM turns WHERE file_id IN (FROM replaced);
DELETE FROM sessions WHERE file_id IN (FROM replaced);
DELETE FROM probes WHERE file_id IN (FROM replaced);
DELETE FROM rejects WHERE file_id IN (FROM replaced);
DELETE FROM turn_parts WHERE file_id IN (FROM replaced);
DELETE FROM unfinished WHERE file_id IN (FROM replaced);
DELETE FROM file_members WHERE file_id IN (FROM replaced);
DELETE FROM trial_runs WHERE file_id IN (FROM replaced);
DELETE FROM trial_looks WHERE file_id IN (FROM replaced);

-- `follows` must not name a removed file. It becomes the new id of a file that was read again, else the nearest earlier content
-- that remains.
UPDATE files SET follows = r.new FROM reread r WHERE files.follows = r.old;
UPDATE files SET follows = remaining.old
FROM (
    WITH RECURSIVE contents (file_id, old) AS (
        SELECT file_id, follows FROM files WHERE follows IN (FROM replaced)
        UNION
        SELECT contents.file_id, f.follows FROM contents JOIN files f ON f.file_id = contents.old
        WHERE contents.old IN (FROM replaced)
    )
    FROM contents WHERE old IS NULL OR old NOT IN (FROM replaced)
) remaining
WHERE files.file_id = remaining.file_id;
DELETE FROM files WHERE file_id IN (FROM replaced);
DELETE FROM copies WHERE file_id NOT IN (SELECT file_id FROM files) OR path IN (SELECT path FROM files);
