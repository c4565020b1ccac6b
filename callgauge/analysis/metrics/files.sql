-- title: Files
-- question: Which files are loaded, which were rejected, and why?
-- unit: one row per file: rejected files first, then files with unreadable lines
-- column privacy: content that was not stored: redacted:<rules and key> or without_results; NULL = everything was stored
-- column copies: number of other file names with the same content, which is read only once
-- column copy: one of these names
-- column found: number of all matching files; this answer is one page of them
SELECT path, source, status, reason, size_bytes, lines, sessions, turns, calls, rejects, run_id, privacy,
       coalesce(copies, 0)::BIGINT AS copies, copy, (count(*) OVER ())::BIGINT AS found
FROM files
LEFT JOIN (SELECT file_id, count(*) AS copies, min(path) AS copy FROM copies GROUP BY file_id) USING (file_id)
WHERE ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY status <> 'rejected', rejects DESC NULLS LAST, path
LIMIT $limit OFFSET $offset
