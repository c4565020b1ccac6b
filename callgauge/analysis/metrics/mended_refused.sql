-- title: Mended, yet refused
-- question: How many calls that our parser could mend had the harness refused?
-- unit: calls
-- days: added up
-- column refused: of the mended calls; they count as parse errors, too
-- note: Mended is a call whose arguments only fit after a repair of the text or a change of a value's type. The harness may have refused it all the same; then it counts in both rates.
SELECT coalesce(sum(mended), 0)::BIGINT AS mended, coalesce(sum(mended_refused), 0)::BIGINT AS refused
FROM daily_calls
WHERE {filters: days, models, providers, prompts, tools, sources, trials}
