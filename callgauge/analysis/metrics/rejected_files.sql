-- title: Rejected files
-- question: Which files could not be used at all, and why?
-- unit: one row per file
-- note: Files that are not logs are in foreign_files.
-- column size_bytes: bytes read before the failure, else the stored size
-- column found: number of matching files; the rows are one page of them
SELECT path, source, coalesce(nullif(size_bytes, 0), stored_bytes) AS size_bytes, reason, (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NULL AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY path
LIMIT $limit OFFSET $offset
