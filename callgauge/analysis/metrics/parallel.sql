-- title: Calls lost next to a failed call
-- question: When one of several calls of a step fails, what happens to the others?
-- unit: calls of steps with several calls
-- days: added up
-- column model: 'unknown' if the log names none
-- column steps: steps with several calls; bad_steps: those with a bad call
-- column calls: calls of these steps; bad: missing calls or calls with invalid arguments; others: valid calls of bad steps
-- column lost: valid calls that were denied, or have no result although the session shows results; others_lost: those of bad steps
-- column group_ids: groups of sessions (of fifty) with such steps, in order; each other group_… column is the column without group_, per group
-- note: A failed call here is a missing call, or one with a syntax or schema error. A valid call is lost if it was denied, or has no result although its session shows results.
-- note: The filter by tool does not apply, because a step can call several tools.
WITH of_groups AS (
  SELECT coalesce(model, 'unknown') AS model, session_group AS id,
         sum(steps)::BIGINT AS steps, sum(calls)::BIGINT AS calls, sum(bad)::BIGINT AS bad, sum(lost)::BIGINT AS lost,
         sum(bad_steps)::BIGINT AS bad_steps, sum(others)::BIGINT AS others, sum(others_lost)::BIGINT AS others_lost
  FROM daily_parallel
  WHERE {filters: days, models, providers, prompts, sources, trials}
  GROUP BY ALL
)
SELECT model, sum(steps)::BIGINT AS steps, sum(calls)::BIGINT AS calls, sum(bad)::BIGINT AS bad, sum(lost)::BIGINT AS lost,
       sum(bad_steps)::BIGINT AS bad_steps, sum(others)::BIGINT AS others, sum(others_lost)::BIGINT AS others_lost,
       list(id ORDER BY id) AS group_ids, list(calls ORDER BY id) AS group_calls, list(bad ORDER BY id) AS group_bad,
       list(lost ORDER BY id) AS group_lost, list(others ORDER BY id) AS group_others,
       list(others_lost ORDER BY id) AS group_others_lost
FROM of_groups
GROUP BY ALL
ORDER BY bad_steps DESC, calls DESC, model
