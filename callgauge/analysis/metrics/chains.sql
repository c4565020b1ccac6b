-- title: Chains of attempts
-- question: What happens after a fault: is it tried again, does it recover, and what does that cost?
-- unit: chains of attempts; each begins with a call that went wrong
-- days: added up
-- column slice: what $by names; by layer, where the first call of the chain went wrong; 'none' = only the log says that it was tried again
-- column attempts: calls in the chain, the first among them; 10 = ten or more
-- column ended: recovered = the last attempt had no fault; abandoned = it had one; open = the log stops before it can be known
-- column identical: retries with the same tool and arguments
-- column first_identical: of the first retries of a chain, as first_changed those with others; where a text is unknown it is neither
-- column first_identical_worked: those without a fault, as first_changed_worked
-- column steps: model calls that the retries took
-- column tokens_known: chains with retries whose tokens the log tells, as ms_known for their time
-- column group_ids: the groups of sessions, of fifty, that have such chains, in order; the other group_… are of each of them what the column without group_ is of all
-- note: A chain begins with a call that went wrong. The next call of the same tool in a later step of the turn joins it. So does the call that the log names as its retry. It counts on the day on which it began.
-- note: Cost is what the attempts after the first took: their steps, and the tokens and time of these steps.
-- $by: 'model' or 'tool' of the first call; NULL = the layer at which it went wrong.
WITH of_groups AS (
  SELECT CASE $by WHEN 'model' THEN coalesce(model, 'unknown') WHEN 'tool' THEN coalesce(tool, 'unknown')
                  ELSE coalesce(fault_layer, 'none') END AS slice,
         ended, attempts::BIGINT AS attempts, session_group AS id,
         sum(chains)::BIGINT AS chains, sum(retries)::BIGINT AS retries, sum(identical)::BIGINT AS identical,
         sum(first_identical)::BIGINT AS first_identical, sum(first_identical_worked)::BIGINT AS first_identical_worked,
         sum(first_changed)::BIGINT AS first_changed, sum(first_changed_worked)::BIGINT AS first_changed_worked,
         sum(steps)::BIGINT AS steps, sum(tokens)::BIGINT AS tokens, sum(tokens_known)::BIGINT AS tokens_known,
         sum(us) / 1000.0 AS ms, sum(ms_known)::BIGINT AS ms_known
  FROM daily_chains
  WHERE {filters: days, models, providers, prompts, tools, sources, trials}
  GROUP BY ALL
)
SELECT slice, ended, attempts, sum(chains)::BIGINT AS chains, sum(retries)::BIGINT AS retries,
       sum(identical)::BIGINT AS identical,
       sum(first_identical)::BIGINT AS first_identical, sum(first_identical_worked)::BIGINT AS first_identical_worked,
       sum(first_changed)::BIGINT AS first_changed, sum(first_changed_worked)::BIGINT AS first_changed_worked,
       sum(steps)::BIGINT AS steps, sum(tokens)::BIGINT AS tokens, sum(tokens_known)::BIGINT AS tokens_known,
       sum(ms)::DOUBLE AS ms, sum(ms_known)::BIGINT AS ms_known,
       list(id ORDER BY id) AS group_ids, list(chains ORDER BY id) AS group_chains,
       list(first_identical ORDER BY id) AS group_first_identical,
       list(first_identical_worked ORDER BY id) AS group_first_identical_worked,
       list(first_changed ORDER BY id) AS group_first_changed,
       list(first_changed_worked ORDER BY id) AS group_first_changed_worked
FROM of_groups
GROUP BY ALL
ORDER BY slice, attempts, ended
