-- title: Sessions
-- question: Which sessions match, and how did they go?
-- unit: one row a session; copies in other files are left out
-- note: The newest first, unless another order is chosen; sessions without a time stand last. Filters by model and prompt keep sessions with such a turn, the filter by tool those that called it, days those that were under way on one of them. The search looks at ids, tasks and what users wrote.
-- note: Turns, steps, calls and faults are those of the session's own turns: a turn that a fuller file tells too is counted there.
-- column said: the beginning of the first user message
-- column recorded_ok: turns that the log calls ok, of recorded_known
-- column derived_ok: turns that we conclude were ok, of derived_known
-- column tokens: input and output of the turns that tell them, of which there are tokens_known
-- column seconds: from the first to the last entry of the log; NULL where one time is all it tells
-- column found: all sessions that match, of which this is one page
-- $order: NULL = newest | 'faults' | 'steps' | 'retries'.
WITH chosen AS NOT MATERIALIZED (
  SELECT session_id, source, file_id, parent_session_id, task, started_at, ended_at, steps AS all_steps, faults AS all_faults
  FROM sessions
  WHERE NOT coalesce(duplicate, false)
    AND ($from_day IS NULL OR greatest(day, ended_at::DATE) >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($sources IS NULL OR list_contains($sources, source))
    AND (($models IS NULL AND $prompts IS NULL) OR (session_id, source) IN (
      SELECT (session_id, source) FROM turns
      WHERE NOT coalesce(duplicate, false) AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
        AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))))
    AND ($tools IS NULL OR (session_id, source) IN (
      SELECT (session_id, source) FROM tool_calls
      WHERE NOT coalesce(duplicate, false) AND list_contains($tools, coalesce(tool, 'unknown'))))
    AND ($search IS NULL OR contains(lower(session_id), lower($search)) OR contains(lower(coalesce(task, '')), lower($search))
         OR (session_id, source) IN (
           SELECT (session_id, source) FROM turns
           WHERE NOT coalesce(duplicate, false) AND contains(lower(user_text), lower($search))))
),
retried AS (
  SELECT session_id, source, sum(retries) AS all_retries FROM turns
  WHERE $order = 'retries' AND NOT coalesce(duplicate, false) GROUP BY ALL
),
page AS (
  SELECT * FROM chosen LEFT JOIN retried USING (session_id, source)
  ORDER BY CASE $order WHEN 'faults' THEN all_faults WHEN 'steps' THEN all_steps WHEN 'retries' THEN all_retries END DESC NULLS LAST,
           started_at DESC NULLS LAST, session_id, source
  LIMIT $limit OFFSET $offset
),
told AS (
  SELECT session_id, source, count(*) AS turns, sum(steps) AS steps, sum(calls) AS calls, sum(faults) AS faults,
         sum(retries) AS retries, list_sort(list(DISTINCT coalesce(model, 'unknown'))) AS models,
         count(recorded_ok) AS recorded_known, count(*) FILTER (recorded_ok) AS recorded_ok,
         count(derived_ok) AS derived_known, count(*) FILTER (derived_ok) AS derived_ok,
         sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FILTER (coalesce(input_tokens, output_tokens) IS NOT NULL) AS tokens,
         count(coalesce(input_tokens, output_tokens)) AS tokens_known,
         left(arg_min(user_text, turn) FILTER (user_text <> ''), 200) AS said
  FROM turns
  WHERE (session_id, source) IN (SELECT (session_id, source) FROM page) AND NOT coalesce(duplicate, false)
  GROUP BY ALL
)
SELECT session_id, source, file_id, coalesce(s.title, page.source) AS title, parent_session_id, task, started_at,
       nullif(epoch(ended_at) - epoch(started_at), 0)::DOUBLE AS seconds, said, coalesce(models, []) AS models,
       coalesce(turns, 0)::BIGINT AS turns, coalesce(steps, 0)::BIGINT AS steps, coalesce(calls, 0)::BIGINT AS calls,
       coalesce(faults, 0)::BIGINT AS faults, coalesce(retries, 0)::BIGINT AS retries,
       coalesce(recorded_ok, 0)::BIGINT AS recorded_ok, coalesce(recorded_known, 0)::BIGINT AS recorded_known,
       coalesce(derived_ok, 0)::BIGINT AS derived_ok, coalesce(derived_known, 0)::BIGINT AS derived_known,
       tokens::BIGINT AS tokens, coalesce(tokens_known, 0)::BIGINT AS tokens_known,
       (SELECT count(*) FROM sessions o WHERE o.session_id = page.session_id AND NOT coalesce(o.duplicate, false))::BIGINT AS same_id,
       (SELECT count(*) FROM chosen)::BIGINT AS found
FROM page LEFT JOIN told USING (session_id, source) LEFT JOIN sources s USING (source)
ORDER BY CASE $order WHEN 'faults' THEN all_faults WHEN 'steps' THEN all_steps WHEN 'retries' THEN all_retries END DESC NULLS LAST,
         started_at DESC NULLS LAST, session_id, source
