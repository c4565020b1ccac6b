-- title: Rejected files
-- question: Of which files could nothing be loaded, and why?
-- unit: one row per file
-- note: For files that are not logs, see the metric foreign_files.
-- column size_bytes: bytes that were read before the failure; if unknown, the size of the stored file
-- column found: number of all matching files; this answer is one page of them
SELECT path, source, coalesce(nullif(size_bytes, 0), stored_bytes) AS size_bytes, reason, (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NULL AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
ORDER BY path
LIMIT $limit OFFSET $offset
