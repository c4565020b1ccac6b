-- title: Counts by session
-- question: How many sessions have the same k and n of a rate?
-- unit: sessions
-- column k: number of hits in each of these sessions, as in the metric slices
-- column n: number of observations in each of these sessions; sessions without observations are left out
-- note: These counts are the input of the cluster bootstrap. They come from the single calls, because the daily sums contain no sessions.
-- note: A session counts once, even if it lasts several days.
-- $rate: one of the names in callgauge/analysis/measures/rates.py; the counts are those of ingest/store/rollups/rates.sql.
WITH
told AS (
  SELECT session_id, min(harness_version) AS harness_version FROM sessions WHERE NOT coalesce(duplicate, false) GROUP BY session_id
),
chosen_calls AS (
  SELECT c.*,
         coalesce(syntax_seen <> 'none' OR fault_layer = 'syntax', false) AS syntax_known,
         coalesce(schema_seen = 'full', false) AS schema_known, coalesce(syntax_seen = 'full', false) AS text_known,
         coalesce(result_status IN ('ok', 'error'), false) AS answered
  FROM tool_calls c LEFT JOIN told USING (session_id)
  WHERE NOT coalesce(duplicate, false)
    AND {filters: days, models, providers, prompts, sources, tools, mcp_servers, strategies, harness_versions, trials}
),
of_calls AS (
  SELECT c.session_id,
    CASE $rate
      WHEN 'parse_error' THEN syntax_known WHEN 'syntax_error' THEN syntax_known WHEN 'schema_error' THEN schema_known
      WHEN 'defined' THEN text_known OR schema_known
      WHEN 'strict_failure' THEN text_known AND schema_known WHEN 'mended' THEN text_known AND schema_known
      WHEN 'coerced' THEN schema_known WHEN 'repaired' THEN text_known
      WHEN 'salvaged' THEN coalesce(text_known AND schema_known AND outcome IN ('coerced', 'repaired', 'failed'), false)
      WHEN 'unknown_tool' THEN coalesce(tools_offered, false)
      WHEN 'emission' THEN true
      WHEN 'truncated' THEN coalesce(args_source = 'raw', false)
      WHEN 'tool_rejected' THEN coalesce(answered OR fault_layer = 'tool_rejected', false)
      WHEN 'execution' THEN answered
      WHEN 'refused' THEN coalesce(answered OR fault_layer = 'refused', false)
      WHEN 'recovered' THEN coalesce(attempt = 1 AND chain_outcome IS NOT NULL, false)
      ELSE false END AS known,
    coalesce(CASE $rate
      WHEN 'parse_error' THEN fault_layer = 'syntax' OR (fault_layer = 'schema' AND schema_known)
      WHEN 'defined' THEN syntax_known AND schema_known
      WHEN 'syntax_error' THEN fault_layer = 'syntax'
      WHEN 'schema_error' THEN fault_layer = 'schema'
      WHEN 'strict_failure' THEN outcome IN ('coerced', 'repaired', 'failed')
      WHEN 'salvaged' THEN outcome IN ('coerced', 'repaired')
      WHEN 'mended' THEN outcome IN ('coerced', 'repaired')
      WHEN 'coerced' THEN outcome = 'coerced'
      WHEN 'repaired' THEN outcome = 'repaired'
      WHEN 'unknown_tool' THEN parse_error LIKE '%unknown_tool%'
      WHEN 'emission' THEN fault_layer = 'emission'
      WHEN 'truncated' THEN regexp_matches(concat_ws('; ', parse_error, parse_warning),
        '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))')
      WHEN 'tool_rejected' THEN fault_layer = 'tool_rejected'
      WHEN 'execution' THEN fault_layer = 'execution'
      WHEN 'refused' THEN fault_layer = 'refused'
      WHEN 'recovered' THEN chain_outcome = 'recovered' END, false) AS hit
  FROM chosen_calls c
),
of_turns AS (
  SELECT session_id,
    CASE $rate WHEN 'retried' THEN coalesce(calls > 0, false) WHEN 'recorded_ok' THEN recorded_ok IS NOT NULL
      WHEN 'derived_ok' THEN derived_ok IS NOT NULL WHEN 'turn_success' THEN coalesce(recorded_ok, derived_ok) IS NOT NULL
      WHEN 'disagree' THEN recorded_ok IS NOT NULL AND derived_ok IS NOT NULL ELSE false END AS known,
    coalesce(CASE $rate WHEN 'retried' THEN retries > 0 WHEN 'recorded_ok' THEN recorded_ok
      WHEN 'derived_ok' THEN derived_ok WHEN 'turn_success' THEN coalesce(recorded_ok, derived_ok) WHEN 'disagree' THEN recorded_ok <> derived_ok END, false) AS hit
  FROM turns
  WHERE $rate IN ('retried', 'recorded_ok', 'derived_ok', 'turn_success', 'disagree') AND NOT coalesce(duplicate, false)
    AND {filters: days, models, providers, prompts, sources, trials}
    -- A turn has no tool and no strategy of its own: it is in when one of its calls is.
    AND (($tools IS NULL AND $mcp_servers IS NULL AND $strategies IS NULL) OR turn_id IN (SELECT turn_id FROM chosen_calls))
    AND ($harness_versions IS NULL OR session_id IN (
      SELECT session_id FROM told WHERE list_contains($harness_versions, coalesce(harness_version, 'unknown'))))
),
of_sessions AS (
  SELECT session_id, count(*) FILTER (hit) AS k, count(*) AS n
  FROM (FROM of_calls UNION ALL FROM of_turns) WHERE known GROUP BY session_id
)
SELECT k::BIGINT AS k, n::BIGINT AS n, count(*)::BIGINT AS sessions
FROM of_sessions GROUP BY ALL ORDER BY n, k
