-- title: Values at a parameter
-- question: Which values do calls send for a parameter when it is wrong, and which values did the parser make from them?
-- unit: calls that the parser could judge; one row per diagnostic code and value
-- column found: the value that was sent, as text; NULL if no value was sent or content is hidden
-- column became: the parser's result as JSON; NULL if there is none
-- column example: id of the newest such call
-- $parameter: as declared; for an item `filters[].name`; '' = the arguments as a whole.
WITH
judged_calls AS NOT MATERIALIZED (
  SELECT call_id, file_id, coalesce(ts, day, TIMESTAMP '0001-01-01') AS moment
  FROM tool_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND NOT coalesce(duplicate, false) AND (syntax_seen = 'full' OR schema_seen = 'full')
),
findings AS (
  SELECT call_id, moment, code, d.severity AS severity, left(found, 400) AS found, left(became, 400) AS became
  FROM diagnostics d JOIN judged_calls USING (call_id, file_id)
  WHERE regexp_replace(regexp_replace(coalesce(path, '$'), '\[\d+\]', '[]', 'g'), '^\$\.?', '') = $parameter
    AND code NOT IN ('tool_definition_missing', 'unknown_tool', 'default_applied', 'default_not_applied',
                     'pattern_not_checked', 'schema_keyword_unsupported')
),
values_sent AS (
  SELECT code, max(severity) AS severity, found, became, count(DISTINCT call_id)::BIGINT AS calls,
         arg_max(call_id, (moment, call_id)) AS example
  FROM findings GROUP BY code, found, became
)
SELECT v.code, coalesce(c.severity, v.severity) AS severity, found, became, calls, example, summary
FROM values_sent v LEFT JOIN codes c USING (code)
ORDER BY calls DESC, code, found, became
LIMIT coalesce($limit, 200)
