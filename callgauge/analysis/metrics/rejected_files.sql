-- title: Rejected files
-- question: Which files could not be used as a whole, and why?
-- unit: one row a file
-- note: Files that are not logs are in foreign_files.
-- column size_bytes: of what was read of it before, else as stored
-- column found: all files that match, of which this is one page
SELECT path, source, coalesce(nullif(size_bytes, 0), stored_bytes) AS size_bytes, reason, (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NULL AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY path
LIMIT $limit OFFSET $offset
