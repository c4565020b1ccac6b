-- title: New errors
-- question: Which errors first appeared this week and keep occurring?
-- unit: failed calls; each call counts for the signature of its first failure
-- column text: error text of the log or the parser, with placeholders for paths, numbers, ids and quoted values; the signature's id if `callgauge retain` deleted the text
-- column first_day: first day of the error in the whole store; filters do not apply
-- column calls: calls from first_day to the day $newest
-- column sessions: sessions from first_day to the day $newest
-- note: A new error was first seen on one of the seven newest days, and occurred in at least 5 calls of 3 sessions.
-- note: The error must be unlikely to be older by chance. If it had existed during the 28 days before, some of its sessions would probably be on those days. The chance that none of them is must be at most 1 in 1,000. On at least $least_days of the earlier days, the error's log source must have calls.
WITH
ever AS (SELECT signature_id, min(day) AS first_day, arg_min(source, day) AS source FROM daily_errors
         WHERE day IS NOT NULL AND {filters: trials}
         GROUP BY ALL),
fresh AS (SELECT signature_id, first_day, source AS first_source FROM ever WHERE first_day BETWEEN $newest::DATE - 6 AND $newest),
settled AS (
  SELECT signature_id, first_day, count(DISTINCT day) FILTER (day < first_day) AS before, count(DISTINCT day) AS days
  FROM fresh JOIN daily_calls ON source = first_source
  WHERE day BETWEEN first_day - 28 AND $newest AND {filters: trials}
  GROUP BY ALL
),
counted AS (
  SELECT signature_id, first_day, count(*)::BIGINT AS calls, count(DISTINCT session_id)::BIGINT AS sessions
  FROM tool_calls JOIN fresh USING (signature_id)
  WHERE NOT duplicate AND day BETWEEN $newest::DATE - 6 AND $newest AND {filters: models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY ALL
)
SELECT signature_id, fault_layer, coalesce(text, 'text removed: ' || signature_id) AS text, first_day, calls, sessions
FROM counted JOIN settled USING (signature_id, first_day) JOIN signatures USING (signature_id)
WHERE calls >= 5 AND sessions >= 3 AND before >= $least_days AND pow(1 - before / days, sessions) <= 0.001
ORDER BY sessions DESC, calls DESC, signature_id
LIMIT coalesce($limit, 10)
