-- title: Calls
-- question: Which calls match, newest first or ordered by a column?
-- unit: one row per call; calls that a later transcript repeats are left out
-- column found: number of all matching calls on the days read; this answer is one page of them
-- column preview: 200 characters of the raw arguments: their beginning, or the part around the searched text
-- column preview_from: position of the first of these characters
-- column finding: first diagnostic code among those with the worst severity
-- note: The newest calls come first, unless another order is chosen. Calls without a value in the ordered column come last. A call that a later transcript repeats is shown once.
-- $outcome: an outcome, or 'mended', 'strict', 'truncated' as the rates count them (ingest/store/rollups/rates.sql).
-- $fault: a stage; 'arguments' (parse errors) and 'schema_error' as the rates count them, without schema errors that only the
-- log reports; 'any' = every stage; 'none' = no failure was seen; 'unknown' = not measured; 'unseen' = 'none' or 'unknown'.
-- $turns: 'retried', 'disagree' (reported and derived success), 'not_ok' (reported or derived), 'succeeded' and 'not_succeeded'
-- (reported, else derived), 'recorded_ok', 'recorded_not_ok', 'derived_ok', 'derived_not_ok'.
-- $search: a part of the raw arguments, in upper or lower case.
-- $chain, the retry sequence of the call: 'any', 'recovered', 'abandoned', 'open', 'none' (not in a sequence).
-- $attempts_from, $attempts_to: least and most attempts of that sequence.
-- $first_retry, the first retry of that sequence: 'identical', 'changed', 'unknown'; with '_worked' added, only if it succeeded.
-- $attempt, the kind of attempt that the call is in its sequence: 'first', 'retry', 'identical', 'changed', 'unknown' (a retry with a missing text).
-- $order: 'tool', 'outcome', 'fault', 'result', 'model' ascending; 'took', 'attempt', 'time' descending. $reversed: the opposite order.
-- $since, $until: the first and last day to read. $undated: true = also read calls without a time.
-- $first_day, $last_day: days that contain all turns of the sessions with calls on those days.
-- Internal: if(… IS NULL, NULL, column) keeps DuckDB from reading the column when the parameter is not set.
WITH own_calls AS NOT MATERIALIZED (
  FROM tool_calls
  WHERE {filters: days}
    AND ($since IS NULL OR day >= $since OR ($undated AND day IS NULL))
    AND ($until IS NULL OR day <= $until OR ($undated AND day IS NULL))
    AND NOT coalesce(duplicate, false)
),
listable AS NOT MATERIALIZED (
  SELECT raw_arguments, ts, session_id, turn, step, ordinal, call_id,
         CASE $order WHEN 'tool' THEN tool WHEN 'outcome' THEN outcome WHEN 'fault' THEN fault_layer WHEN 'result' THEN result_status
                     WHEN 'model' THEN model END AS word,
         CASE $order WHEN 'took' THEN latency_ms WHEN 'attempt' THEN attempt WHEN 'time' THEN epoch(ts) END AS number
  FROM own_calls
  WHERE {filters: models, providers, prompts, tools, mcp_servers, sources, trials}
    AND ($outcome IS NULL OR outcome = $outcome OR (syntax_seen = 'full' AND schema_seen = 'full'
           AND (($outcome = 'mended' AND outcome IN ('coerced', 'repaired'))
                OR ($outcome = 'strict' AND outcome IN ('coerced', 'repaired', 'failed'))))
         OR ($outcome = 'truncated' AND args_source = 'raw' AND regexp_matches(
           concat_ws('; ', parse_error, parse_warning),
           '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))')))
    AND ($fault IS NULL OR fault_layer = $fault OR ($fault = 'any' AND fault_layer IS NOT NULL)
         OR ($fault = 'arguments' AND (fault_layer = 'syntax'
           OR (fault_layer = 'schema' AND syntax_seen <> 'none' AND schema_seen = 'full')))
         OR ($fault = 'schema_error' AND fault_layer = 'schema' AND schema_seen = 'full')
         OR ($fault = 'unseen' AND fault_layer IS NULL)
         OR ($fault IN ('none', 'unknown') AND fault_layer IS NULL AND ($fault = 'unknown') = (
           NOT coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none'), false)
           OR coalesce(result_status, 'missing') IN ('unknown', 'missing'))))
    AND ($signature IS NULL OR signature_id = $signature)
    AND ($code IS NULL OR if($code IS NULL, NULL, {'call': call_id, 'file': file_id}) IN (
      SELECT {'call': call_id, 'file': file_id} FROM diagnostics WHERE code = $code))
    AND ($turns IS NULL OR if($turns IS NULL, NULL, turn_id) IN (
      SELECT turn_id FROM turns
      WHERE ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
        AND (($turns = 'retried' AND retries > 0) OR ($turns = 'disagree' AND recorded_ok <> derived_ok)
             OR ($turns = 'recorded_ok' AND recorded_ok) OR ($turns = 'recorded_not_ok' AND NOT recorded_ok)
             OR ($turns = 'succeeded' AND coalesce(recorded_ok, derived_ok))
             OR ($turns = 'not_succeeded' AND NOT coalesce(recorded_ok, derived_ok))
             OR ($turns = 'derived_ok' AND derived_ok) OR ($turns = 'derived_not_ok' AND NOT derived_ok)
             OR ($turns = 'not_ok' AND (NOT recorded_ok OR NOT derived_ok)))))
    AND ($chain IS NULL OR ($chain = 'none' AND chain_id IS NULL)
         OR ($chain <> 'none' AND chain_id IS NOT NULL AND ($chain = 'any' OR coalesce(chain_outcome, 'open') = $chain)))
    AND ($attempt IS NULL OR ($attempt = 'first' AND attempt = 1)
         OR (attempt > 1 AND ($attempt = 'retry' OR coalesce(retry_kind, 'unknown') = $attempt)))
    AND (($attempts_from IS NULL AND $first_retry IS NULL)
         OR if($attempts_from IS NULL AND $first_retry IS NULL, NULL, chain_id) IN (
           SELECT chain_id FROM tool_calls
           WHERE ($attempts_from IS NOT NULL OR $first_retry IS NOT NULL) AND attempt IS NOT NULL AND NOT coalesce(duplicate, false)
             AND ($first_day IS NULL OR day >= $first_day OR day IS NULL) AND ($last_day IS NULL OR day <= $last_day OR day IS NULL)
           GROUP BY chain_id
           HAVING ($attempts_from IS NULL OR 1 + count(*) FILTER (attempt > 1) >= $attempts_from)
             AND ($attempts_to IS NULL OR 1 + count(*) FILTER (attempt > 1) <= $attempts_to)
             AND ($first_retry IS NULL OR bool_or(attempt = 2 AND coalesce(retry_kind, 'unknown') = replace($first_retry, '_worked', '')
                                                  AND (NOT ends_with($first_retry, '_worked') OR fault_layer IS NULL)))))
),
-- The texts are read once, for the rows of the page and for their number.
hits AS MATERIALIZED (
  SELECT * EXCLUDE (raw_arguments) FROM listable WHERE $search IS NOT NULL AND contains(lower(raw_arguments), lower($search))
),
chosen AS NOT MATERIALIZED (
  SELECT * EXCLUDE (raw_arguments) FROM listable WHERE $search IS NULL
  UNION ALL
  FROM hits
),
-- All else is read of the rows of the page alone.
listed AS MATERIALIZED (
  -- Apart: with other keys before it, the time would not tell early which rows are out.
  (SELECT call_id, NULL AS word, NULL AS number FROM chosen WHERE $order IS NULL
   ORDER BY ts DESC NULLS LAST, session_id, turn DESC, step DESC, ordinal DESC, call_id
   LIMIT $limit OFFSET $offset)
  UNION ALL
  (SELECT call_id, word, number FROM chosen WHERE $order IS NOT NULL
   ORDER BY CASE WHEN NOT coalesce($reversed, false) THEN word END NULLS LAST, CASE WHEN $reversed THEN word END DESC NULLS LAST,
            CASE WHEN NOT coalesce($reversed, false) THEN number END DESC NULLS LAST, CASE WHEN $reversed THEN number END NULLS LAST,
            ts DESC NULLS LAST, session_id, turn DESC, step DESC, ordinal DESC, call_id
   LIMIT $limit OFFSET $offset)
),
-- The second limit cuts nothing: it tells how few rows these are.
page AS MATERIALIZED (
  SELECT c.*, word, number FROM own_calls c JOIN listed USING (call_id) LIMIT $limit
),
worst AS (
  SELECT call_id, arg_min(code, CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END * 1000 + position) AS finding
  FROM diagnostics SEMI JOIN page USING (call_id, file_id) GROUP BY call_id
)
SELECT call_id, session_id, turn, step, ts, outcome, fault_layer, model, provider, prompt_id, tool, result_status, latency_ms, finding, attempt,
       retry_kind, chain_outcome, substr(coalesce(raw_arguments, arguments, ''), preview_from, 200) AS preview, preview_from,
       (SELECT count(*) FROM chosen)::BIGINT AS found
FROM page LEFT JOIN worst USING (call_id),
     LATERAL (SELECT greatest(1, coalesce(strpos(lower(raw_arguments), lower($search)), 1) - 12)::BIGINT AS preview_from) hit
ORDER BY CASE WHEN NOT coalesce($reversed, false) THEN word END NULLS LAST, CASE WHEN $reversed THEN word END DESC NULLS LAST,
         CASE WHEN NOT coalesce($reversed, false) THEN number END DESC NULLS LAST, CASE WHEN $reversed THEN number END NULLS LAST,
         ts DESC NULLS LAST, session_id, turn DESC, step DESC, ordinal DESC, call_id
