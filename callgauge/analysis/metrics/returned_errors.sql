-- title: Errors that are back
-- question: Which errors that were marked as fixed were seen again after the day of the fix?
-- unit: calls whose first failure has the signature
-- column text: error text of the log or the parser, with placeholders for paths, numbers, ids and quoted values
-- column fixed_day: day of the fix, from the triage status
-- column back_day: first day after the fix on which the error was seen
-- column last_day: last day on which the error was seen
-- column calls: calls with the error after the day of the fix
-- column sessions: sessions; a session counts again for each day, model, prompt and tool
-- column example: id of the newest such call
-- note: An error is back if its signature is seen on a day after the fix. Filters do not apply. The day of the fix does not count, because the old version may still have run on that day.
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
