-- After touched.sql: every row of the files in `replaced` goes but for their late results, which take_back.sql needs; and
-- every other name of a file that is no more, or that is a file of its own by now.

DELETE FROM diagnostics WHERE file_id IN (FROM replaced);
DELETE FROM tool_calls WHERE file_id IN (FROM replaced);
DELETE FROM step_texts WHERE file_id IN (FROM replaced);
DELETE FROM turns WHERE file_id IN (FROM replaced);
DELETE FROM sessions WHERE file_id IN (FROM replaced);
DELETE FROM probes WHERE file_id IN (FROM replaced);
DELETE FROM rejects WHERE file_id IN (FROM replaced);
DELETE FROM turn_parts WHERE file_id IN (FROM replaced);
DELETE FROM unfinished WHERE file_id IN (FROM replaced);
DELETE FROM files WHERE file_id IN (FROM replaced);
DELETE FROM copies WHERE file_id NOT IN (SELECT file_id FROM files) OR path IN (SELECT path FROM files);
