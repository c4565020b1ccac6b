-- title: Files that are no logs
-- question: In which folders are files that no format knows, and what do they hold?
-- unit: one row a folder and kind, the fullest first
-- column kind: json (in no known format), broken (begins like JSON), text, binary, empty
-- column path: the first of them; reason: what is wrong with it
-- column found: all rows that match, of which this is one page
SELECT regexp_replace(path, '/[^/]*$', '') AS folder, foreign_kind AS kind, count(*)::BIGINT AS files,
       sum(stored_bytes)::BIGINT AS bytes, min(path) AS path, arg_min(reason, path) AS reason,
       (count(*) OVER ())::BIGINT AS found
FROM files
WHERE status = 'rejected' AND foreign_kind IS NOT NULL
  AND ($sources IS NULL OR source IS NULL OR list_contains($sources, source))
GROUP BY folder, foreign_kind
ORDER BY files DESC, folder, kind
LIMIT $limit OFFSET $offset
