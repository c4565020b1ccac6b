-- title: Size of turns
-- question: How many replies, calls and tokens does a turn of a model have?
-- unit: one row a model, over its whole turns; 'unknown' where the log names none
-- column turns: whole turns
-- column replies: replies of the model in a turn, on average
-- column calling_turns: of the turns, those with a call
-- column calls: calls in a turn that has one, on average
-- column counted_replies: replies for which the log has tokens; written is their number per reply, on average
-- column token_turns: turns for which the log has the tokens of every reply; tokens is what they read and wrote on average, tokens_deviation the standard deviation of that
SELECT coalesce(model, 'unknown') AS model, count(*) AS turns, avg(steps) AS replies,
       count(*) FILTER (calls > 0) AS calling_turns, avg(calls) FILTER (calls > 0) AS calls,
       coalesce(sum(counted_steps), 0)::BIGINT AS counted_replies,
       sum(counted_output) / nullif(sum(counted_steps), 0) AS written,
       count(*) FILTER (counted_steps = steps) AS token_turns,
       avg(counted_input + counted_output) FILTER (counted_steps = steps) AS tokens,
       stddev_samp(counted_input + counted_output) FILTER (counted_steps = steps) AS tokens_deviation
FROM turns
WHERE NOT coalesce(duplicate, FALSE) AND begun AND steps > 0 AND {filters: trials, models}
GROUP BY ALL
ORDER BY turns DESC, model
