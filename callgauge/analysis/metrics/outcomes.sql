-- title: Calls by outcome
-- question: What was the outcome of parsing the calls' arguments, in each slice?
-- unit: calls
-- days: added up
-- column slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column outcome: clean = valid; coerced = valid JSON in which a value changed its type; repaired = text that had to be unwrapped or repaired; failed; unmeasured = not measured
-- $by: model, provider, tool, mcp_server, strategy, source, day.
WITH
named AS NOT MATERIALIZED (
  SELECT *, NULL::VARCHAR AS prompt_name, NULL::VARCHAR AS definition_id, NULL::VARCHAR AS harness_version FROM daily_calls
),
chosen AS NOT MATERIALIZED (
  SELECT {value: by} AS slice, clean, coerced, repaired, failed, unmeasured
  FROM named
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
),
sums AS (
  SELECT slice, sum(clean) AS clean, sum(coerced) AS coerced, sum(repaired) AS repaired, sum(failed) AS failed,
         sum(unmeasured) AS unmeasured
  FROM chosen GROUP BY slice
)
SELECT slice, outcome, calls::BIGINT AS calls
FROM (UNPIVOT sums ON clean, coerced, repaired, failed, unmeasured INTO NAME outcome VALUE calls)
ORDER BY slice, list_position(['clean', 'coerced', 'repaired', 'failed', 'unmeasured'], outcome)
