-- Lists the files of the latest load with unreadable lines that no earlier load saw: the number of lines, and the reason of the
-- first one.

SELECT path, count(*) AS lines, arg_min(r.code || ': ' || r.reason, coalesce(r.byte_offset, 0)) AS reason
FROM rejects r JOIN files USING (file_id)
ANTI JOIN known_rejects k ON k.file_id = r.file_id AND k.byte_offset = r.byte_offset AND k.code = r.code
ANTI JOIN (FROM known_rejects WHERE byte_offset IS NULL) t
  ON t.file_id = r.file_id AND t.code = r.code AND t.reason = r.reason
WHERE run_id = (SELECT max(run_id) FROM ingest_runs)
GROUP BY path
ORDER BY path
LIMIT 100;
