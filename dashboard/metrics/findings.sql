-- title: What the parser found
-- question: Which codes did the parser report, and in how many calls?
-- unit: calls with at least one finding of the code
WITH chosen AS (
  SELECT code, sum(calls)::BIGINT AS calls, sum(findings)::BIGINT AS findings
  FROM daily_codes
  WHERE ($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
    AND ($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
    AND ($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
    AND ($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
    AND ($sources IS NULL OR list_contains($sources, source))
  GROUP BY code
)
SELECT code, severity, stage, lossy, chosen.calls, chosen.findings, summary
FROM chosen LEFT JOIN codes USING (code)
ORDER BY chosen.calls DESC, code
