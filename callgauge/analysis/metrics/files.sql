-- title: Files
-- question: Which files are in, which were rejected and why?
-- unit: one row a file: rejected ones first, then those with rejected lines
-- column privacy: what was left out: redacted:<rules and key>, without_results; NULL = nothing
-- column copies: other names under which the same content was found; it is read once. copy: one of them
-- column found: all files that match, of which this is one page
SELECT path, source, status, reason, size_bytes, lines, sessions, turns, calls, rejects, run_id, privacy,
       coalesce(copies, 0)::BIGINT AS copies, copy, (count(*) OVER ())::BIGINT AS found
FROM files
LEFT JOIN (SELECT file_id, count(*) AS copies, min(path) AS copy FROM copies GROUP BY file_id) USING (file_id)
WHERE ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY status <> 'rejected', rejects DESC NULLS LAST, path
LIMIT $limit OFFSET $offset
