-- title: New errors
-- question: Which errors were never seen before this week, and come again and again?
-- unit: calls that went wrong first at the layer
-- column text: what the log or our parser says, with placeholders for paths, numbers, ids and quoted values
-- column first_day: the first day in the whole store, whatever the filters say
-- column calls, sessions: since then, up to the day $newest
-- note: A new error was first seen on one of the seven newest days, in at least 5 calls of 3 sessions.
-- note: Its log source had calls on $least_days days before that, so that not everything is new.
WITH
ever AS (SELECT signature_id, min(day) AS first_day, arg_min(source, day) AS source FROM daily_errors WHERE day IS NOT NULL GROUP BY ALL),
source_days AS (
  SELECT source, day, row_number() OVER (PARTITION BY source ORDER BY day) AS number
  FROM (SELECT DISTINCT source, day FROM daily_calls WHERE day IS NOT NULL)
),
settled AS (SELECT source, day FROM source_days WHERE number = $least_days),
fresh AS (
  SELECT signature_id, first_day FROM ever JOIN settled USING (source)
  WHERE first_day BETWEEN $newest::DATE - 6 AND $newest AND first_day > settled.day
),
counted AS (
  SELECT signature_id, first_day, count(*)::BIGINT AS calls, count(DISTINCT session_id)::BIGINT AS sessions
  FROM tool_calls JOIN fresh USING (signature_id)
  WHERE NOT duplicate AND day BETWEEN $newest::DATE - 6 AND $newest AND {filters: models, prompts, tools, sources}
  GROUP BY ALL
)
SELECT signature_id, fault_layer, text, first_day, calls, sessions
FROM counted JOIN signatures USING (signature_id)
WHERE calls >= 5 AND sessions >= 3
ORDER BY sessions DESC, calls DESC, signature_id
LIMIT coalesce($limit, 10)
