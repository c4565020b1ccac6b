-- title: Calls lost next to a failed call
-- question: If one of several calls in a step fails, what happens to the other calls?
-- unit: calls in steps that have several calls
-- days: added up
-- column model: 'unknown' if the log does not name the model
-- column steps: steps with several calls
-- column bad_steps: number of these steps with a failed call
-- column calls: calls in these steps
-- column bad: missing calls, and calls with invalid arguments
-- column others: valid calls in steps with a failed call
-- column lost: valid calls that were lost, in all of these steps
-- column others_lost: valid calls that were lost in steps with a failed call
-- column group_ids: ids of the random session groups with such steps, in order; a column group_X holds column X for each of these groups
-- note: A failed call here is a missing call, or a call with a syntax or schema error. A valid call is lost if it was denied, or if it has no result although its session contains results.
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
