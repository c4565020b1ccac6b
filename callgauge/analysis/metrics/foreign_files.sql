-- title: Files that are not logs
-- question: Which folders contain files that are not logs in a known format, and what kind of files?
-- unit: one row per folder and kind of file; rows with the most files first
-- column kind: json (no known format), broken (begins like JSON), text, binary, empty
-- column path: first of these files
-- column reason: why this file was not read
-- column found: number of all matching rows; this answer is one page of them
SELECT regexp_replace(path, '/[^/]*$', '') AS folder, foreign_kind AS kind, count(*)::BIGINT AS files,
       sum(stored_bytes)::BIGINT AS bytes, min(path) AS path, arg_min(reason, path) AS reason,
       (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NOT NULL
  AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
GROUP BY folder, foreign_kind
ORDER BY files DESC, folder, kind
LIMIT $limit OFFSET $offset
