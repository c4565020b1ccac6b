-- Lists the sources for which the latest load redacted arguments, with the numbers of redacted calls and of all calls.

SELECT coalesce(title, source) AS title, count(*) FILTER (args_source = 'redacted') AS redacted, count(*) AS calls
FROM tool_calls LEFT JOIN (SELECT source, title FROM sources) USING (source)
WHERE file_id IN (SELECT file_id FROM files WHERE run_id = (SELECT max(run_id) FROM ingest_runs))
GROUP BY ALL
HAVING redacted > 0
ORDER BY title;
