-- title: Which findings models recover from
-- question: Of the chains that a refused call began in the last seven days, how many ended well, by what was found in that call?
SELECT
  d.code,
  count(DISTINCT c.call_id) AS chains,
  count(DISTINCT c.call_id) FILTER (c.chain_outcome = 'recovered') AS recovered,
  round(recovered / chains, 3) AS share
FROM tool_calls c
JOIN diagnostics d ON d.call_id = c.call_id AND d.file_id = c.file_id AND d.severity = 'error'
WHERE NOT c.duplicate AND c.trial_run IS NULL AND c.attempt = 1 AND c.chain_outcome IS NOT NULL
  AND c.day > (SELECT max(day) FROM daily_calls WHERE trial_run IS NULL) - 7
GROUP BY d.code
ORDER BY chains DESC
