-- title: Last load
-- question: How recent is the data in the store, and did anything fail to load?
-- unit: files; lines in the columns about lines
-- days: added up
-- facts: newest turns
-- column newest: time of the newest turn
-- column lines: lines in the loaded files
-- column lines_left_out: lines of which at least a part was rejected
-- column calls: number of tool calls that the pages count
-- column copies: number of calls that a second file repeats; the pages do not count them
-- column rejected_files: files of which nothing could be loaded
-- column foreign_files: files that are not logs; these do not count as rejected
-- column rejected_lines: rejected items in loaded files; one line may have several
SELECT (SELECT max(finished_at) FROM ingest_runs) AS loaded_at,
       (SELECT max(ts) FROM turns WHERE {filters: trials}) AS newest,
       count(*) FILTER (WHERE status = 'loaded')::BIGINT AS files,
       coalesce(sum(lines) FILTER (WHERE status = 'loaded'), 0)::BIGINT AS lines,
       (SELECT count(DISTINCT (file_id, line)) FROM rejects)::BIGINT AS lines_left_out,
       (SELECT coalesce(sum(calls), 0) FROM daily_calls WHERE {filters: trials})::BIGINT AS calls,
       greatest(0, coalesce(sum(calls), 0) - (SELECT coalesce(sum(calls), 0) FROM daily_calls))::BIGINT AS copies,
       count(*) FILTER (WHERE status = 'rejected' AND foreign_kind IS NULL)::BIGINT AS rejected_files,
       count(*) FILTER (WHERE status = 'rejected' AND foreign_kind IS NOT NULL)::BIGINT AS foreign_files,
       (SELECT count(*) FROM rejects)::BIGINT AS rejected_lines
FROM files
