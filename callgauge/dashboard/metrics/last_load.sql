-- title: Last load
-- question: How fresh is the store, and did anything fail to load?
-- unit: files, lines
-- column newest: the time of the newest call or turn
-- column rejected_files: files that no format could read
-- column rejected_lines: lines of read files that were skipped
SELECT (SELECT max(finished_at) FROM ingest_runs) AS loaded_at,
       (SELECT max(ts) FROM turns) AS newest,
       count(*) FILTER (WHERE status = 'loaded')::BIGINT AS files,
       count(*) FILTER (WHERE status = 'rejected')::BIGINT AS rejected_files,
       (SELECT count(*) FROM rejects)::BIGINT AS rejected_lines
FROM files
