-- title: Unreadable lines by reason
-- question: Why were lines rejected, how often, and what does an example look like?
-- unit: rejected lines, or rejected values within a line
-- note: Only the rejected line, or the rejected value in it, is missing. The rest of the file is loaded.
-- column files: files with at least one such line
-- column path: path of the example's file; the example is the first one by file and line
WITH grouped AS (
  SELECT r.code, count(*)::BIGINT AS lines, count(DISTINCT r.file_id)::BIGINT AS files,
         arg_min({'path': coalesce(m.path, f.path), 'line': r.line - coalesce(m.line - 1, 0), 'reason': r.reason, 'snippet': r.snippet},
                 (coalesce(f.path, ''), coalesce(r.line, 0))) AS example
  FROM rejects r LEFT JOIN files f ON f.file_id = r.file_id
  ASOF LEFT JOIN file_members m ON m.file_id = r.file_id AND m.byte_offset <= r.byte_offset
  WHERE ($sources IS NULL OR f.source IS NULL OR list_contains($sources, f.source))
  GROUP BY r.code
)
SELECT code, lines, files, example.path AS path, example.line AS line, example.reason AS reason,
       example.snippet AS snippet
FROM grouped
ORDER BY lines DESC, code
