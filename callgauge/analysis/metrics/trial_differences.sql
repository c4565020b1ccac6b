-- title: Differences between variants
-- question: In which tools, parameters and diagnostic codes do the variants of a trial run differ?
-- unit: calls; one row per value and variant
-- column value: name of a tool, a parameter of a tool, or a diagnostic code
-- column k: for a tool, its calls with a syntax or schema error; otherwise, the calls with a diagnostic at the parameter or of the code
-- column n: for a tool, all its calls in the variant; otherwise, all calls of the variant
-- note: A call counts for a parameter or code if the parser repaired it there or found it invalid there.
-- $by: tool, parameter or code.
WITH called AS (
  SELECT call_id, file_id, arm, coalesce(tool, 'unknown') AS tool, fault_layer IN ('syntax', 'schema') AS is_refused
  FROM tool_calls WHERE trial_run = $run AND arm IS NOT NULL AND NOT duplicate
),
found AS (
  SELECT DISTINCT call_id, arm, tool, code,
         regexp_replace(regexp_replace(coalesce(path, '$'), '\[\d+\]', '[]', 'g'), '^\$\.?', '') AS parameter
  FROM called JOIN diagnostics d USING (call_id, file_id)
  WHERE d.severity <> 'note' AND $by <> 'tool'
),
of_tools AS (
  SELECT tool, arm, count(*) AS calls, count(*) FILTER (is_refused) AS refused FROM called GROUP BY ALL
),
counted AS (
  SELECT tool AS value, tool, arm, refused AS k FROM of_tools WHERE $by = 'tool'
  UNION ALL
  SELECT tool || ' · ' || parameter, tool, arm, count(DISTINCT call_id) FROM found
  WHERE $by = 'parameter' AND parameter <> '' GROUP BY ALL
  UNION ALL
  SELECT code, NULL, arm, count(DISTINCT call_id) FROM found WHERE $by = 'code' GROUP BY ALL
),
-- Each value has a row for each arm: an arm without a finding has 0 of its calls.
pairs AS (
  SELECT value, tool, arm FROM (SELECT DISTINCT value, tool FROM counted), (SELECT DISTINCT arm FROM called)
),
sums AS (
  SELECT tool, arm, sum(calls) AS calls FROM of_tools GROUP BY GROUPING SETS ((tool, arm), (arm))
)
SELECT p.value, p.tool, p.arm, coalesce(k, 0)::BIGINT AS k, coalesce(s.calls, 0)::BIGINT AS n
FROM pairs p
LEFT JOIN counted c USING (value, arm)
LEFT JOIN sums s ON s.arm = p.arm AND s.tool IS NOT DISTINCT FROM p.tool
ORDER BY p.value, p.arm
