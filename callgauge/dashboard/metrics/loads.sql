-- title: Loads
-- question: When was what loaded?
-- unit: one row a load, the newest first
SELECT run_id, started_at, finished_at, files_loaded, files_unchanged, files_rejected, bytes, lines, sessions, turns,
       calls, rejects, callgauge_version, parser_version
FROM ingest_runs ORDER BY run_id DESC LIMIT 50
