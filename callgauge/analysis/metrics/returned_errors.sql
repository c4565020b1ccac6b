-- title: Errors that are back
-- question: Which errors that somebody has fixed were seen again after the day of the fix?
-- unit: calls that went wrong first at the layer
-- column text: what the log or our parser says, with placeholders for paths, numbers, ids and quoted values
-- column fixed_day: the day of the fix, as the team's memory has it
-- column back_day: the first later day with such a call
-- column last_day: the last such day
-- column calls: on the days after the fix
-- column sessions: a session counts once for each day, model, prompt and tool
-- column example: the newest such call
-- note: An error is back when its signature is seen on a day after that of its fix, whatever the filters say. On the day of the fix itself the old version may still have run.
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
