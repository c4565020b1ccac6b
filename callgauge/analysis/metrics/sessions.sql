-- title: Sessions
-- question: Which sessions match, and what happened in each?
-- unit: one row per session; rows that another file repeats are left out
-- note: The newest sessions come first, unless another order is chosen; sessions without a time come last. Filters by model, host and prompt keep sessions that have a turn with the selected value. The filter by tool keeps sessions that called the tool. The filter by day keeps sessions that were active on one of the days. The search covers ids, tasks and user messages.
-- note: Filters by retry sequence and attempt keep sessions with a matching call. If a model, host, prompt or tool is selected, that call must also have the selected value.
-- note: The numbers of turns, steps, calls and failures cover only the turns that count for this session. A turn that is also in a more complete file counts there.
-- column run: experiment run of the session, from the path of its file
-- column said: beginning of the first user message
-- column recorded_ok: number of turns that the log reports as successful
-- column recorded_known: number of turns whose success or failure the log reports
-- column derived_ok: number of turns that were derived as successful
-- column derived_known: number of turns whose success or failure could be derived
-- column succeeded: number of successful turns, reported by the log or else derived
-- column success_known: number of turns whose success or failure is known
-- column tokens: sum of input and output tokens
-- column tokens_known: number of turns for which the log contains tokens
-- column seconds: time from the first to the last record of the log; NULL if the log has only one time
-- column found: number of all matching sessions on the days read; this answer is one page of them
-- $order: NULL = newest, 'time', 'turns', 'steps', 'calls', 'faults', 'retries', 'seconds', descending. $reversed: the opposite order.
-- The metric calls lists the values of $chain, $attempt and $turns. $chain: sessions with such a retry sequence; 'none' = without any.
-- $attempt: sessions with such an attempt. Filters by model, host, prompt or tool then apply to a call of that sequence or attempt.
-- $turns: sessions with such a turn, of the selected models, hosts and prompts.
-- $since, $until: sessions that began from one day to the other. $undated: true = also sessions without a time.
-- $first_day, $last_day: days that contain all records of these sessions.
-- Internal: if(… IS NULL, NULL, column) keeps DuckDB from reading the column when the parameter is not set.
WITH own_turns AS NOT MATERIALIZED (
  FROM turns
  WHERE NOT coalesce(duplicate, false)
    AND ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
),
own_calls AS NOT MATERIALIZED (
  FROM tool_calls
  WHERE NOT coalesce(duplicate, false)
    AND ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
),
own_sessions AS NOT MATERIALIZED (
  FROM sessions
  WHERE NOT coalesce(duplicate, false)
    AND ($since IS NULL OR day >= $since OR ($undated AND day IS NULL))
    AND ($until IS NULL OR day <= $until OR ($undated AND day IS NULL))
),
chosen AS MATERIALIZED (
  SELECT session_id, source, started_at,
         CASE $order WHEN 'time' THEN epoch(started_at) WHEN 'turns' THEN turns WHEN 'steps' THEN steps WHEN 'calls' THEN calls
                     WHEN 'faults' THEN faults WHEN 'seconds' THEN nullif(epoch(ended_at) - epoch(started_at), 0) END AS number
  FROM own_sessions
  WHERE ($from_day IS NULL OR greatest(day, ended_at::DATE) >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND {filters: sources, trials}
    AND ($run IS NULL OR run = $run)
    AND (($models IS NULL AND $providers IS NULL AND $prompts IS NULL AND $turns IS NULL)
         OR if($models IS NULL AND $providers IS NULL AND $prompts IS NULL AND $turns IS NULL, NULL, (session_id, source)) IN (
      SELECT (session_id, source) FROM own_turns
      WHERE ($models IS NOT NULL OR $providers IS NOT NULL OR $prompts IS NOT NULL OR $turns IS NOT NULL)
        AND ($turns IS NULL OR ($turns = 'retried' AND retries > 0) OR ($turns = 'disagree' AND recorded_ok <> derived_ok)
             OR ($turns = 'recorded_ok' AND recorded_ok) OR ($turns = 'recorded_not_ok' AND NOT recorded_ok)
             OR ($turns = 'succeeded' AND coalesce(recorded_ok, derived_ok))
             OR ($turns = 'not_succeeded' AND NOT coalesce(recorded_ok, derived_ok))
             OR ($turns = 'derived_ok' AND derived_ok) OR ($turns = 'derived_not_ok' AND NOT derived_ok)
             OR ($turns = 'not_ok' AND (NOT recorded_ok OR NOT derived_ok)))
        AND {filters: models, providers, prompts}))
    AND (($tools IS NULL AND $mcp_servers IS NULL AND coalesce($chain, 'none') = 'none' AND $attempt IS NULL)
         OR if($tools IS NULL AND $mcp_servers IS NULL AND coalesce($chain, 'none') = 'none' AND $attempt IS NULL, NULL, (session_id, source)) IN (
      SELECT (session_id, source) FROM own_calls
      WHERE ($tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $chain <> 'none' OR $attempt IS NOT NULL)
        AND {filters: tools, mcp_servers}
        AND (coalesce($chain, 'none') = 'none'
             OR (chain_id IS NOT NULL AND ($chain = 'any' OR coalesce(chain_outcome, 'open') = $chain)))
        AND ($attempt IS NULL OR ($attempt = 'first' AND attempt = 1)
             OR (attempt > 1 AND ($attempt = 'retry' OR coalesce(retry_kind, 'unknown') = $attempt)))
        AND ((coalesce($chain, 'none') = 'none' AND $attempt IS NULL) OR ({filters: models, providers, prompts}))))
    AND ($chain IS DISTINCT FROM 'none' OR if($chain = 'none', (session_id, source), NULL) NOT IN (
      SELECT (session_id, source) FROM own_calls WHERE $chain = 'none' AND chain_id IS NOT NULL))
    AND ($search IS NULL OR contains(lower(session_id), lower($search)) OR contains(lower(coalesce(task, '')), lower($search))
         OR if($search IS NULL, NULL, (session_id, source)) IN (
      SELECT (session_id, source) FROM own_turns WHERE $search IS NOT NULL AND contains(lower(user_text), lower($search))))
),
retried AS (
  SELECT session_id, source, sum(retries) AS all_retries FROM own_turns
  WHERE $order = 'retries' AND retries > 0 GROUP BY ALL
),
ordered AS MATERIALIZED (
  SELECT session_id, source, if($reversed, -1, 1) * if($order = 'retries', coalesce(all_retries, 0), number) AS rank
  FROM chosen LEFT JOIN retried USING (session_id, source)
  ORDER BY rank DESC NULLS LAST, started_at DESC NULLS LAST, session_id, source
  LIMIT $limit OFFSET $offset
),
-- The second limit cuts nothing: it tells how few rows these are.
page AS MATERIALIZED (
  SELECT s.*, rank FROM own_sessions s JOIN ordered USING (session_id, source) LIMIT $limit
),
-- Of all days: `main.` is what other days hold, too (ingest/store/segments.py).
alike AS (
  SELECT session_id, count(*) AS same_id FROM main.sessions SEMI JOIN ordered USING (session_id)
  WHERE NOT coalesce(duplicate, false) GROUP BY session_id
),
told AS (
  SELECT session_id, source, count(*) AS turns, sum(steps) AS steps, sum(calls) AS calls, sum(faults) AS faults,
         sum(retries) AS retries, list_sort(list(DISTINCT coalesce(model, 'unknown'))) AS models,
         list_sort(list(DISTINCT provider) FILTER (provider IS NOT NULL)) AS providers,
         count(recorded_ok) AS recorded_known, count(*) FILTER (recorded_ok) AS recorded_ok,
         count(derived_ok) AS derived_known, count(*) FILTER (derived_ok) AS derived_ok,
         count(coalesce(recorded_ok, derived_ok)) AS success_known, count(*) FILTER (coalesce(recorded_ok, derived_ok)) AS succeeded,
         sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FILTER (coalesce(input_tokens, output_tokens) IS NOT NULL) AS tokens,
         count(coalesce(input_tokens, output_tokens)) AS tokens_known,
         left(arg_min(user_text, turn) FILTER (user_text <> ''), 200) AS said
  FROM own_turns SEMI JOIN ordered USING (session_id, source)
  GROUP BY ALL
)
SELECT session_id, source, file_id, coalesce(s.title, page.source) AS title, parent_session_id, task, run, started_at,
       nullif(epoch(ended_at) - epoch(started_at), 0)::DOUBLE AS seconds, said, coalesce(models, []) AS models,
       coalesce(providers, []) AS providers,
       coalesce(told.turns, 0)::BIGINT AS turns, coalesce(told.steps, 0)::BIGINT AS steps, coalesce(told.calls, 0)::BIGINT AS calls,
       coalesce(told.faults, 0)::BIGINT AS faults, coalesce(retries, 0)::BIGINT AS retries,
       coalesce(recorded_ok, 0)::BIGINT AS recorded_ok, coalesce(recorded_known, 0)::BIGINT AS recorded_known,
       coalesce(derived_ok, 0)::BIGINT AS derived_ok, coalesce(derived_known, 0)::BIGINT AS derived_known,
       coalesce(succeeded, 0)::BIGINT AS succeeded, coalesce(success_known, 0)::BIGINT AS success_known,
       tokens::BIGINT AS tokens, coalesce(tokens_known, 0)::BIGINT AS tokens_known,
       coalesce(same_id, 0)::BIGINT AS same_id,
       (SELECT count(*) FROM chosen)::BIGINT AS found
FROM page LEFT JOIN told USING (session_id, source) LEFT JOIN alike USING (session_id) LEFT JOIN sources s USING (source)
ORDER BY rank DESC NULLS LAST, started_at DESC NULLS LAST, session_id, source
