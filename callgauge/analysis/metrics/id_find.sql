-- title: Sessions and calls by id
-- question: Which sessions and calls have an id that matches this text?
-- unit: one row per session or call; within sessions and calls, the newest first
-- note: A session matches if its id contains the text, in upper or lower case. A call matches if its id, or its id in the log, begins with the text. Rows that another file repeats are left out.
-- column kind: session or call
-- column shown: the matching id
-- column file_id: the session's file, if several sources have a session with this id; else NULL
(
  SELECT 'session' AS kind, session_id AS id, session_id AS shown, coalesce(task, source) AS about, started_at AS ts,
         CASE WHEN count(*) OVER (PARTITION BY session_id) > 1 THEN file_id END AS file_id
  FROM sessions
  WHERE NOT coalesce(duplicate, false) AND contains(lower(session_id), lower($text))
  ORDER BY ts DESC NULLS LAST, id, source
  LIMIT $limit
)
UNION ALL
(
  SELECT 'call', call_id, if(starts_with(call_id, $text), call_id, tool_call_id),
         concat_ws(' · ', coalesce(tool, 'unknown'), model, strftime(ts, '%Y-%m-%d %H:%M')), ts, NULL
  FROM tool_calls
  WHERE NOT coalesce(duplicate, false) AND (starts_with(call_id, $text) OR starts_with(tool_call_id, $text))
  ORDER BY ts DESC NULLS LAST, call_id
  LIMIT $limit
)
