-- title: Disagreements per day
-- question: On which days can the reported and derived success of turns disagree, and for how many turns at most?
-- unit: one row per day, newest first; turns without a time are in the last row
-- days: kept apart
-- column most: upper bound of the number of turns that disagree, from the daily sums
-- column exact: true if most is the exact number; false if the daily sums lack the selected tools or MCP servers
-- note: These numbers come from the daily sums. With them, the list of these turns reads only the days it needs.
SELECT day, sum(disagree)::BIGINT AS most, $tools IS NULL AND $mcp_servers IS NULL AS exact
FROM daily_turns
WHERE {filters: days, models, providers, prompts, sources, trials}
GROUP BY day HAVING sum(disagree) > 0
ORDER BY day DESC NULLS LAST
