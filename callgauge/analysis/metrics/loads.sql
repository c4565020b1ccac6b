-- title: Loads
-- question: When was what loaded?
-- unit: one row a load, the newest first
-- column sessions_replaced: repeated in a file whose content has changed; sessions_removed: by --replace
-- column calls_fewer: calls that were in the store and are no longer
SELECT run_id, started_at, finished_at, files_loaded, files_unchanged, files_rejected, bytes, lines, sessions, turns,
       calls, rejects, coalesce(sessions_replaced, 0) AS sessions_replaced,
       coalesce(sessions_removed, 0) AS sessions_removed, coalesce(calls_fewer, 0) AS calls_fewer,
       callgauge_version, parser_version
FROM ingest_runs ORDER BY run_id DESC LIMIT 50
