-- title: Disagreements of each day
-- question: On which days can turns be whose two verdicts disagree, and how many at most?
-- unit: one row a day, the newest first; turns without a time last
-- days: kept apart
-- column most: turns that disagree as far as the daily sums tell
-- column exact: that many do; else the daily sums do not have the tools or MCP servers asked for
-- note: Counted in the daily sums, for the list of these turns: it looks at no more days than it needs.
SELECT day, sum(disagree)::BIGINT AS most, $tools IS NULL AND $mcp_servers IS NULL AS exact
FROM daily_turns
WHERE {filters: days, models, providers, prompts, sources, trials}
GROUP BY day HAVING sum(disagree) > 0
ORDER BY day DESC NULLS LAST
