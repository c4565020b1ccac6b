-- title: Calls lost to a bad neighbour
-- question: When one of several calls of a step is bad, what becomes of the others?
-- unit: calls of steps that made several calls at once
-- column model: 'unknown' where the log names none
-- column steps: steps with several calls; bad_steps those in which at least one call was bad
-- column calls: of these steps; bad = no call came, or its arguments were refused; others = the good ones of bad steps
-- column lost: good calls that were refused, or have no result though the session shows results; others_lost = those of bad steps
-- note: Bad: an emission, syntax or schema fault. Lost: a good call that was refused, or got no result though its session shows results.
-- note: The filter by tool does not apply: a step can call several.
SELECT coalesce(model, 'unknown') AS model, sum(steps)::BIGINT AS steps, sum(calls)::BIGINT AS calls, sum(bad)::BIGINT AS bad, sum(lost)::BIGINT AS lost,
       sum(bad_steps)::BIGINT AS bad_steps, sum(others)::BIGINT AS others, sum(others_lost)::BIGINT AS others_lost
FROM daily_parallel
  WHERE {filters: days, models, prompts, sources}
GROUP BY ALL
ORDER BY bad_steps DESC, calls DESC, model
