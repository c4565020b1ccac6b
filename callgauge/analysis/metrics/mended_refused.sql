-- title: Repaired, yet rejected
-- question: How many calls that our parser could repair had the agent rejected?
-- unit: calls
-- days: added up
-- column refused: of the repaired calls: those that the agent had rejected; they count as parse errors, too
-- note: A call needed repair when its arguments became valid only after a syntax repair or a type conversion. The agent may still have rejected it; then it counts in both rates.
SELECT coalesce(sum(mended), 0)::BIGINT AS mended, coalesce(sum(mended_refused), 0)::BIGINT AS refused
FROM daily_calls
WHERE {filters: days, models, providers, prompts, tools, sources, trials}
