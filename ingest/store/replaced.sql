-- After touched.sql: every row of the files in `replaced` goes but for their late results, which take_back.sql needs; and
-- every other name of a file that is no more, or that is a file of its own by now. `reread` (old, new): files read again.

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

UPDATE files SET follows = r.new FROM reread r WHERE files.follows = r.old;
UPDATE files SET follows = kept.old
FROM (
    WITH RECURSIVE up (file_id, old) AS (
        SELECT file_id, follows FROM files WHERE follows IN (FROM replaced)
        UNION
        SELECT up.file_id, f.follows FROM up JOIN files f ON f.file_id = up.old WHERE up.old IN (FROM replaced)
    )
    FROM up WHERE old IS NULL OR old NOT IN (FROM replaced)
) kept
WHERE files.file_id = kept.file_id;
DELETE FROM files WHERE file_id IN (FROM replaced);
DELETE FROM copies WHERE file_id NOT IN (SELECT file_id FROM files) OR path IN (SELECT path FROM files);
