-- title: Rejected lines
-- question: Which lines could not be read, and why?
-- unit: one row a line
-- column found: all lines that match, of which this is one page
SELECT f.path, r.line, r.byte_offset, r.code, r.reason, r.snippet, (count(*) OVER ())::BIGINT AS found
FROM rejects r LEFT JOIN files f USING (file_id)
WHERE ($sources IS NULL OR f.source IS NULL OR list_contains($sources, f.source))
  AND ($code IS NULL OR r.code = $code)
ORDER BY f.path, r.line
LIMIT $limit OFFSET $offset
