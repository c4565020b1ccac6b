-- title: What each source lets us see
-- question: Of how many calls of each source could the text and the definition be judged?
SELECT
  source,
  count(*) AS calls,
  count(*) FILTER (syntax_seen = 'full') AS text_judged,
  count(*) FILTER (schema_seen = 'full') AS definition_judged,
  count(*) FILTER (args_source = 'raw') AS as_sent
FROM tool_calls
WHERE NOT duplicate AND trial_run IS NULL
GROUP BY source
ORDER BY calls DESC
