-- title: Refused files
-- question: Which files could not be used as a whole, and why?
-- unit: one row a file
-- column found: all files that match, of which this is one page
SELECT path, source, size_bytes, reason, (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY path
LIMIT $limit OFFSET $offset
