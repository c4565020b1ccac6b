-- title: Unreadable lines
-- question: Which lines could not be read, and why?
-- unit: one row per line
-- column found: number of all matching lines; this answer is one page of them
-- column path: the file that contains the line
SELECT coalesce(m.path, f.path) AS path, r.line - coalesce(m.line - 1, 0) AS line,
       r.byte_offset - coalesce(m.byte_offset, 0) AS byte_offset, r.code, r.reason, r.snippet,
       (count(*) OVER ())::BIGINT AS found
FROM rejects r LEFT JOIN files f ON f.file_id = r.file_id
ASOF LEFT JOIN file_members m ON m.file_id = r.file_id AND m.byte_offset <= r.byte_offset
WHERE ($sources IS NULL OR f.source IS NULL OR list_contains($sources, f.source))
  AND ($code IS NULL OR r.code = $code)
ORDER BY f.path, r.line, r.byte_offset
LIMIT $limit OFFSET $offset
