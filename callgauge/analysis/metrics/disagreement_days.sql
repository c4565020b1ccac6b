-- title: Disagreements per day
-- question: On which days can turns have reported and derived success that disagree, and how many at most?
-- unit: one row per day, newest first; turns without a time last
-- days: kept apart
-- column most: turns that disagree according to the daily sums, an upper bound
-- column exact: true if the bound is exact; false if the daily sums lack the selected tools or MCP servers
-- note: Counted in the daily sums, so that the list of these turns reads only the days it needs.
SELECT day, sum(disagree)::BIGINT AS most, $tools IS NULL AND $mcp_servers IS NULL AS exact
FROM daily_turns
WHERE {filters: days, models, providers, prompts, sources, trials}
GROUP BY day HAVING sum(disagree) > 0
ORDER BY day DESC NULLS LAST
