-- title: Files that are not logs
-- question: Which folders contain files in no known format, and what kind of files?
-- unit: one row per folder and kind, largest number first
-- column kind: json (no known format), broken (begins like JSON), text, binary, empty
-- column path: first of these files; reason: why it was not read
-- column found: number of matching rows; the rows are one page of them
SELECT regexp_replace(path, '/[^/]*$', '') AS folder, foreign_kind AS kind, count(*)::BIGINT AS files,
       sum(stored_bytes)::BIGINT AS bytes, min(path) AS path, arg_min(reason, path) AS reason,
       (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NOT NULL
  AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
GROUP BY folder, foreign_kind
ORDER BY files DESC, folder, kind
LIMIT $limit OFFSET $offset
