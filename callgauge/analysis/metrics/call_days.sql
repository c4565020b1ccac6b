-- title: Calls per day
-- question: On which days can matching calls be, and how many can each day have at most?
-- unit: one row per day, newest first; calls without a time are in the last row
-- days: kept apart
-- column most: upper bound of the number of matching calls, from the daily sums
-- column exact: true if most is the exact number; false if the daily sums lack a selected dimension
-- note: These numbers come from the daily sums. With them, the list of calls reads only the days it needs. The parameters are those of the metric calls.
WITH told AS (
  SELECT day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, least(
    calls,
    CASE $outcome WHEN 'clean' THEN clean WHEN 'coerced' THEN coerced WHEN 'repaired' THEN repaired WHEN 'mended' THEN mended
                  WHEN 'failed' THEN failed WHEN 'unmeasured' THEN unmeasured END,
    CASE $fault WHEN 'emission' THEN fault_emission WHEN 'syntax' THEN fault_syntax WHEN 'schema' THEN fault_schema
                WHEN 'tool_rejected' THEN fault_tool_rejected WHEN 'execution' THEN fault_execution WHEN 'refused' THEN fault_refused
                WHEN 'arguments' THEN parse_errors WHEN 'schema_error' THEN schema_errors WHEN 'unknown' THEN fault_unknown
                WHEN 'unseen' THEN calls - fault_emission - fault_syntax - fault_schema - fault_tool_rejected - fault_execution - fault_refused
                WHEN 'any' THEN fault_emission + fault_syntax + fault_schema + fault_tool_rejected + fault_execution + fault_refused
                WHEN 'none' THEN calls - fault_emission - fault_syntax - fault_schema - fault_tool_rejected - fault_execution
                                 - fault_refused - fault_unknown END,
    CASE $attempt WHEN 'identical' THEN retries_identical WHEN 'retry' THEN retries WHEN 'changed' THEN retries - retries_identical
                  WHEN 'unknown' THEN retries - retries_identical END,
    CASE WHEN $chain = 'none' THEN calls - chains - retries
         WHEN $chain IS NOT NULL OR $attempts_from IS NOT NULL OR $first_retry IS NOT NULL THEN chains + retries END) AS calls
  FROM daily_calls WHERE $code IS NULL AND $signature IS NULL AND $attempt IS DISTINCT FROM 'first'
  UNION ALL
  SELECT day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server,
         CASE $first_retry
           WHEN 'identical' THEN first_identical WHEN 'identical_worked' THEN first_identical_worked
           WHEN 'changed' THEN first_changed WHEN 'changed_worked' THEN first_changed_worked
           WHEN 'unknown' THEN if(attempts > 1, chains, 0) - first_identical - first_changed ELSE chains END AS calls
  FROM daily_chains
  WHERE $code IS NULL AND $signature IS NULL AND $attempt = 'first'
    AND ($chain IS NULL OR $chain = 'any' OR ended = $chain)
    AND ($attempts_from IS NULL OR attempts >= $attempts_from) AND ($attempts_to IS NULL OR attempts <= $attempts_to)
    AND ($fault IS NULL OR fault_layer = $fault OR ($fault = 'any' AND fault_layer IS NOT NULL)
         OR ($fault = 'arguments' AND fault_layer IN ('syntax', 'schema')) OR ($fault = 'schema_error' AND fault_layer = 'schema')
         OR ($fault IN ('none', 'unknown', 'unseen') AND fault_layer IS NULL))
  UNION ALL
  SELECT day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, calls FROM daily_codes WHERE code = $code
  UNION ALL
  SELECT day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, calls FROM daily_errors WHERE $code IS NULL AND signature_id = $signature
)
SELECT day, sum(calls)::BIGINT AS most,
       $turns IS NULL AND $search IS NULL AND $outcome IS DISTINCT FROM 'strict' AND $outcome IS DISTINCT FROM 'truncated'
         AND if($attempt = 'first',
                $outcome IS NULL AND $code IS NULL AND $signature IS NULL
                  AND coalesce($fault NOT IN ('none', 'unknown', 'arguments', 'schema_error'), true) AND $first_retry IS DISTINCT FROM 'unknown_worked',
                $chain IS NULL AND $attempts_from IS NULL AND $first_retry IS NULL AND $attempt IS DISTINCT FROM 'changed'
                  AND $attempt IS DISTINCT FROM 'unknown'
                  AND ($outcome IS NOT NULL)::INT + ($fault IS NOT NULL)::INT + ($code IS NOT NULL)::INT
                    + ($signature IS NOT NULL)::INT + ($attempt IS NOT NULL)::INT <= 1) AS exact
FROM told
WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
GROUP BY day HAVING sum(calls) > 0
ORDER BY day DESC NULLS LAST
