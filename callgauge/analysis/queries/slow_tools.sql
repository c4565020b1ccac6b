-- title: How long tools take
-- question: How long did a call of each tool take in the middle in the last seven days, and how long did the slowest take?
SELECT
  tool,
  count(latency_ms) AS timed_calls,
  round(quantile_cont(latency_ms, 0.5)) AS median_ms,
  round(quantile_cont(latency_ms, 0.95)) AS slowest_twentieth_ms
FROM tool_calls
WHERE NOT duplicate AND trial_run IS NULL AND latency_ms IS NOT NULL
  AND day > (SELECT max(day) FROM daily_calls WHERE trial_run IS NULL) - 7
GROUP BY tool
ORDER BY timed_calls DESC
