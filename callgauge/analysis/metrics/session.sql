-- title: One session
-- question: What is stored about the session with this id?
-- unit: one row per source; several rows only if sources share the id
-- note: A session that is in several files is read from the most complete file.
-- column copies: other files that contain the session
-- $file: the file of the session, if sources share its id.
WITH held AS (
  SELECT *, (count(*) OVER (PARTITION BY source) - 1)::BIGINT AS copies,
         row_number() OVER (PARTITION BY source ORDER BY coalesce(duplicate, false), file_id) AS number
  FROM sessions
  WHERE session_id = $session
    AND ($file IS NULL OR source IN (SELECT source FROM sessions WHERE session_id = $session AND file_id = $file))
)
SELECT session_id, h.source, coalesce(o.title, h.source) AS title, harness, harness_version, parent_session_id, user_name, task,
       run, trial_run, arm, started_at, ended_at, h.file_id, coalesce(m.path, f.path) AS file, h.line - coalesce(m.line - 1, 0) AS line,
       h.byte_offset - coalesce(m.byte_offset, 0) AS byte_offset, copies
FROM held h
LEFT JOIN files f ON f.file_id = h.file_id
ASOF LEFT JOIN file_members m ON m.file_id = h.file_id AND m.byte_offset <= h.byte_offset
LEFT JOIN (SELECT source, any_value(title) AS title FROM sources GROUP BY 1) o ON o.source = h.source
WHERE number = 1
ORDER BY h.source
