-- title: Sessions and calls by id
-- question: Which sessions and calls have an id that matches this text?
-- unit: one row per session or call, newest of each kind first
-- note: A session's id matches if it contains the text, in any case. A call's id, or its id in the log, matches if it begins with the text. Copies in other files are left out.
-- column kind: session | call
-- column shown: the matching id
-- column file_id: file of a session whose id occurs in several sources, else NULL
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
