-- title: Retry sequences
-- question: What happens after a failure: is the call retried, does it recover, and what does that cost?
-- unit: retry sequences; each begins with a failed call
-- days: added up
-- column slice: the value of $by; without $by, the stage at which the first call failed ('none' = only the log reports the retry)
-- column attempts: number of calls in the sequence, including the first; 10 means ten or more
-- column ended: recovered = the last attempt succeeded; abandoned = the last attempt failed; open = the log ends before the outcome
-- column identical: retries with the same tool and arguments as the call before
-- column first_identical: sequences whose first retry has the same arguments as the failed call
-- column first_changed: sequences whose first retry has other arguments; neither column counts a sequence in which an argument text is missing
-- column first_identical_worked: sequences of first_identical whose first retry succeeded
-- column first_changed_worked: sequences of first_changed whose first retry succeeded
-- column steps: number of model calls that the retries took
-- column tokens_known: sequences with retries for which the log contains tokens
-- column ms_known: sequences with retries for which the log contains times
-- column group_ids: ids of the random session groups with such sequences, in order; a column group_X holds column X for each of these groups
-- note: A retry sequence begins with a failed call. A later call joins the sequence if it calls the same tool in a later step of the turn, or if the log names it as a retry. The sequence counts on the day on which it began.
-- note: The cost of a sequence is the steps of the attempts after the first, and the tokens and time of these steps.
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
