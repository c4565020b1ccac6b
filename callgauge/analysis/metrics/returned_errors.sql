-- title: Errors that are back
-- question: Which errors marked as fixed were seen again after the day of the fix?
-- unit: calls that failed first at the stage
-- column text: error text of the log or the parser; paths, numbers, ids and quoted values are placeholders
-- column fixed_day: day of the fix, from the team's triage status
-- column back_day: first later day with such a call
-- column last_day: last day with such a call
-- column calls: calls after the day of the fix
-- column sessions: a session counts once for each day, model, prompt and tool
-- column example: the newest such call
-- note: An error is back if its signature is seen on a day after the fix, regardless of filters. The day of the fix does not count, because the old version may still have run.
WITH
fixed AS (SELECT unnest($signatures::VARCHAR[]) AS signature_id, unnest($fixed_days::DATE[]) AS fixed_day),
counted AS (
  SELECT signature_id, fixed_day, min(day) AS back_day, max(day) AS last_day,
         sum(calls)::BIGINT AS calls, sum(sessions)::BIGINT AS sessions, arg_max(example, (example_ts, example)) AS example
  FROM daily_errors JOIN fixed USING (signature_id)
  WHERE day > fixed_day AND {filters: trials}
  GROUP BY ALL
)
SELECT signature_id, fault_layer, text, fixed_day, back_day, last_day, calls, sessions, example
FROM counted LEFT JOIN signatures USING (signature_id)
ORDER BY last_day DESC, calls DESC, signature_id
