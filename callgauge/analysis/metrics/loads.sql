-- title: Loads
-- question: When was data loaded, and what did each load add or replace?
-- unit: one row per load, newest first
-- column sessions_replaced: sessions that were replaced because a file with new content repeats them
-- column sessions_removed: sessions that were removed by --replace
-- column calls_fewer: calls that this load removed from the store
SELECT run_id, started_at, finished_at, files_loaded, files_unchanged, files_rejected, bytes, lines, sessions, turns,
       calls, rejects, coalesce(sessions_replaced, 0) AS sessions_replaced,
       coalesce(sessions_removed, 0) AS sessions_removed, coalesce(calls_fewer, 0) AS calls_fewer,
       callgauge_version, parser_version
FROM ingest_runs ORDER BY run_id DESC LIMIT 50
