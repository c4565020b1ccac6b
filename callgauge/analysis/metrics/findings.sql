-- title: Diagnostics
-- question: Which diagnostic codes did the parser report, and in how many calls?
-- unit: calls with at least one diagnostic of the code
-- days: added up
-- column measured: calls of the slice that the parser could judge
-- note: A call counts once for each code, so rows share calls.
-- note: The share's denominator is the calls that the parser could judge: calls whose text is in the log or whose tool definition is known.
WITH chosen AS (
  SELECT code, sum(calls)::BIGINT AS calls, sum(findings)::BIGINT AS findings
  FROM daily_codes
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY code
),
judged AS (
  SELECT coalesce(sum(mend_known), 0)::BIGINT AS measured FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
)
SELECT code, severity, stage, lossy, chosen.calls, chosen.findings, measured, summary
FROM chosen CROSS JOIN judged LEFT JOIN codes USING (code)
ORDER BY chosen.calls DESC, code
