-- title: Files
-- question: Which files are loaded, which were rejected, and why?
-- unit: one row per file: rejected files first, then files with unreadable lines
-- column privacy: what was left out: redacted:<rules and key> or without_results; NULL = nothing
-- column copies: other names of files with the same content, which is read once; copy: one of these names
-- column found: number of matching files; the rows are one page of them
SELECT path, source, status, reason, size_bytes, lines, sessions, turns, calls, rejects, run_id, privacy,
       coalesce(copies, 0)::BIGINT AS copies, copy, (count(*) OVER ())::BIGINT AS found
FROM files
LEFT JOIN (SELECT file_id, count(*) AS copies, min(path) AS copy FROM copies GROUP BY file_id) USING (file_id)
WHERE ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY status <> 'rejected', rejects DESC NULLS LAST, path
LIMIT $limit OFFSET $offset
