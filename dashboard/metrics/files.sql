-- title: Files
-- question: Which files are in, which were rejected and why?
-- unit: one row a file: rejected ones first, then those with rejected lines
-- column privacy: what was left out: redacted:<rules and key>, without_results; NULL = nothing
-- column found: all files that match, of which this is one page
SELECT path, source, status, reason, size_bytes, lines, sessions, turns, calls, rejects, run_id, privacy,
       (count(*) OVER ())::BIGINT AS found
FROM files
WHERE ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY status <> 'rejected', rejects DESC NULLS LAST, path
LIMIT $limit OFFSET $offset
