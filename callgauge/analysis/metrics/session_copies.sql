-- title: Sessions in several files
-- question: Which sessions are in several files, and which file is counted?
-- unit: one row per session
-- note: A call or turn that is in several files counts once. A row with a result is preferred, then a row from the file with more of the session, then a row from the file that was read first. The other rows stay in the store, marked as duplicates.
-- column counts: the file that is counted: the most complete file
-- column calls: calls of the session in the counted file
-- column copies: the other files, each with its number of calls of the session
-- column duplicate_calls: number of repeated calls in all files, which are not counted
-- column found: number of all matching sessions; this answer is one page of them
WITH told AS (
  SELECT s.session_id, s.file_id, any_value(s.source) AS source, any_value(f.path) AS path,
         sum(s.calls) AS calls, sum(s.duplicate_calls) AS duplicate_calls, bool_and(s.duplicate) AS duplicate
  FROM sessions s LEFT JOIN files f USING (file_id)
  WHERE s.session_id IN (SELECT session_id FROM sessions WHERE duplicate)
    AND ($sources IS NULL OR list_contains($sources, s.source)) AND {filters: trials}
  GROUP BY s.session_id, s.file_id
)
SELECT session_id, coalesce(any_value(title), any_value(source)) AS title,
       arg_min(path, (duplicate, file_id)) AS counts,
       coalesce(arg_min(calls, (duplicate, file_id)), 0)::BIGINT AS calls,
       list({'path': path, 'calls': coalesce(calls, 0)::BIGINT} ORDER BY file_id) FILTER (duplicate) AS copies,
       coalesce(sum(duplicate_calls), 0)::BIGINT AS duplicate_calls,
       (count(*) OVER ())::BIGINT AS found
FROM told LEFT JOIN sources USING (source)
GROUP BY session_id
HAVING count(*) > 1
ORDER BY duplicate_calls DESC, session_id
LIMIT $limit OFFSET $offset
