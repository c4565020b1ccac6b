-- title: Size of turns
-- question: How many replies, calls and tokens does a turn have, for each model?
-- unit: one row per model ('unknown' if the log does not name it), from its whole turns
-- column turns: number of whole turns
-- column replies: mean number of model replies per turn
-- column calling_turns: turns with a call
-- column calls: mean number of calls per turn with a call
-- column counted_replies: replies for which the log contains tokens
-- column written: mean number of tokens that the model wrote per such reply
-- column token_turns: turns for which the log contains the tokens of every reply
-- column tokens: mean number of input and output tokens of these turns
-- column tokens_deviation: standard deviation of these tokens
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
