-- title: Calls lost next to a failed call
-- question: When one of several calls of a step fails, what happens to the others?
-- unit: calls of steps that made several calls at once
-- days: added up
-- column model: 'unknown' where the log names none
-- column steps: steps with several calls; bad_steps those in which at least one call was bad
-- column calls: of these steps; bad = a call was missing, or its arguments were invalid; others = the valid calls of bad steps
-- column lost: valid calls that were denied, or have no result although the session shows results; others_lost = those of bad steps
-- column group_ids: the groups of sessions, of fifty, that have such steps, in order; the other group_… are of each of them what the column without group_ is of all
-- note: A failed call here is a missing call, or one with a syntax or schema error. A valid call is lost when it was denied, or got no result although its session shows results.
-- note: The filter by tool does not apply: a step can call several.
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
