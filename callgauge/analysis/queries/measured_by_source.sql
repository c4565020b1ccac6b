-- title: What each source lets us see
-- question: Of how many calls of each source could the text and the definition be judged?
SELECT
  source,
  sum(calls) AS calls,
  sum(syntax_full) AS text_judged,
  sum(schema_full) AS definition_judged
FROM daily_calls
WHERE trial_run IS NULL
GROUP BY source
ORDER BY calls DESC
