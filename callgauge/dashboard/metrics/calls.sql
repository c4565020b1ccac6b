-- title: Calls
-- question: Which calls match, the newest first?
-- unit: one row a call; copies in repeated transcripts are left out
-- column found: all calls that match in the days looked at, of which this is one page
-- column preview: the beginning of the raw arguments
-- column finding: the first code that the parser reported, the worst severity first
-- note: Newest first; calls without a time stand last. A call that a later transcript repeats is shown once.
-- $outcome 'mended' = coerced or repaired; $fault 'any' = every layer, 'arguments' = syntax or schema, 'none' = no fault
-- was seen, 'unknown' = no fault was seen and the log cannot tell;
-- $turns 'retried' | 'disagree' (log and conclusion) | 'not_ok' (by either); $search: part of the raw arguments, any case.
-- $since, $until, $undated: the days looked at (dashboard.newest); $first_day, $last_day: all turns of the sessions that
-- have calls on these days lie within them.
-- if(… IS NULL, NULL, column): else the column would be read where nothing is asked of it.
WITH listable AS NOT MATERIALIZED (
  SELECT rowid AS row, raw_arguments, ts, session_id, turn, step, ordinal, call_id FROM tool_calls
  WHERE {filters: days}
    AND ($since IS NULL OR day >= $since OR ($undated AND day IS NULL))
    AND ($until IS NULL OR day <= $until OR ($undated AND day IS NULL))
    AND {filters: models, prompts, tools, sources}
    AND NOT coalesce(duplicate, false)
    AND ($outcome IS NULL OR outcome = $outcome OR ($outcome = 'mended' AND outcome IN ('coerced', 'repaired')))
    AND ($fault IS NULL OR fault_layer = $fault OR ($fault = 'any' AND fault_layer IS NOT NULL)
         OR ($fault = 'arguments' AND fault_layer IN ('syntax', 'schema'))
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
             OR ($turns = 'not_ok' AND (NOT recorded_ok OR NOT derived_ok)))))
),
-- The texts are read once, for the rows of the page and for their number.
hits AS MATERIALIZED (
  SELECT row FROM listable WHERE $search IS NOT NULL AND contains(lower(raw_arguments), lower($search))
),
chosen AS NOT MATERIALIZED (
  FROM listable WHERE $search IS NULL OR if($search IS NULL, NULL, row) IN (SELECT row FROM hits)
),
-- All else is read of the rows of the page alone.
listed AS MATERIALIZED (
  SELECT row FROM chosen
  ORDER BY ts DESC NULLS LAST, session_id, turn DESC, step DESC, ordinal DESC, call_id
  LIMIT $limit OFFSET $offset
),
-- The second limit cuts nothing: it tells how few rows these are.
page AS MATERIALIZED (SELECT * FROM tool_calls WHERE rowid IN (SELECT row FROM listed) LIMIT $limit),
worst AS (
  SELECT call_id, arg_min(code, CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END * 1000 + position) AS finding
  FROM diagnostics SEMI JOIN page USING (call_id, file_id) GROUP BY call_id
)
SELECT call_id, session_id, turn, step, ts, outcome, fault_layer, model, prompt_id, tool, result_status, finding, attempt, retry_kind,
       left(coalesce(raw_arguments, arguments, ''), 200) AS preview, (SELECT count(*) FROM chosen)::BIGINT AS found
FROM page LEFT JOIN worst USING (call_id)
ORDER BY ts DESC NULLS LAST, session_id, turn DESC, step DESC, ordinal DESC, call_id
