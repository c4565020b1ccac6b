-- title: One session
-- question: What is known of the session with this id?
-- unit: one row a source; several only where sources share an id
-- note: A session that several files hold is told from the fullest.
-- column copies: other files that hold the session
-- $file: the file of the session that is meant, where sources share its id.
WITH held AS (
  SELECT *, (count(*) OVER (PARTITION BY source) - 1)::BIGINT AS copies,
         row_number() OVER (PARTITION BY source ORDER BY coalesce(duplicate, false), file_id) AS number
  FROM sessions
  WHERE session_id = $session
    AND ($file IS NULL OR source IN (SELECT source FROM sessions WHERE session_id = $session AND file_id = $file))
)
SELECT session_id, h.source, coalesce(o.title, h.source) AS title, harness, harness_version, parent_session_id, user_name, task,
       started_at, ended_at, h.file_id, f.path AS file, line, byte_offset, copies
FROM held h LEFT JOIN files f USING (file_id) LEFT JOIN (SELECT source, any_value(title) AS title FROM sources GROUP BY 1) o ON o.source = h.source
WHERE number = 1
ORDER BY h.source
