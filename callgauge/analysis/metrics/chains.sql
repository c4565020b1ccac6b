-- title: Retry sequences
-- question: What happens after a failure: is the call retried, does it recover, and what does that cost?
-- unit: retry sequences; each begins with a failed call
-- days: added up
-- column slice: the value of $by; by stage: the stage at which the first call failed; 'none' = only the log reports the retry
-- column attempts: calls in the sequence, including the first; 10 = ten or more
-- column ended: recovered = the last attempt succeeded; abandoned = given up, the last attempt failed; open = the log ends before the outcome
-- column identical: retries with the same tool and arguments
-- column first_identical: first retries with the same arguments; first_changed: with other arguments. If an argument text is missing, the retry is in neither
-- column first_identical_worked: those that succeeded; first_changed_worked: likewise
-- column steps: model calls that the retries took
-- column tokens_known: sequences with retries whose log has tokens; ms_known: whose log has times
-- column group_ids: groups of sessions (of fifty) with such sequences, in order; each other group_… column is the column without group_, per group
-- note: A retry sequence begins with a failed call. The next call of the same tool in a later step of the turn joins it, as does the call that the log names as its retry. The sequence counts on the day on which it began.
-- note: The cost is that of the attempts after the first: their steps, and the tokens and time of these steps.
-- $by: 'model' or 'tool' of the first call; NULL = the stage at which it failed.
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
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
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
