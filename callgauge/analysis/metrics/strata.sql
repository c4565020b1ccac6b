-- title: Mix-adjusted slices
-- question: Which mix of work did each slice get, and what is its rate in each part of the mix?
-- unit: calls, turns or retry sequences, depending on the rate; one row per slice and part of the mix
-- days: added up
-- column rate: name of a rate in callgauge/analysis/measures/rates.py
-- column arm: the slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column first: the value of $first
-- column second: the value of $second
-- column third: the value of $third
-- column k: hits: calls, turns or retry sequences that the rate counts
-- column n: calls, turns or retry sequences on which the rate was measured
-- column total: all calls, turns or retry sequences; on total - n of them the rate was not measured
-- column sessions: sessions with an observation
-- column group_ids: ids of the random session groups with an observation, in order
-- column group_k: k in each of these groups
-- column group_n: n in each of these groups
-- note: A slice that got harder tools has a worse rate for that reason alone. So slices are compared within each combination of $first, $second and $third. The differences are then averaged, with weights for how much both slices have of each combination (Mantel–Haenszel).
-- note: The numbers come from the daily sums. With one row per tool, or a filter on tools, a turn counts for every tool that it called.
-- $by, $first, $second and $third: model, provider, prompt, prompt_name, tool, definition, strategy, source,
-- harness_version, day. $among: only these values of $by.
WITH
named AS NOT MATERIALIZED (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name FROM daily_rates c LEFT JOIN prompts p USING (prompt_id)
),
chosen AS NOT MATERIALIZED (
  SELECT rate, {value: by} AS arm, {value: first} AS first, {value: second} AS second, {value: third} AS third,
         k, n, total, sessions, group_ids, group_k, group_n
  FROM named
  WHERE rate IN (SELECT unnest($rates::VARCHAR[]))
    AND cut = CASE WHEN $tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $definitions IS NOT NULL
                     OR list_has_any([$by, $first, $second, $third], ['tool', 'mcp_server', 'definition']) THEN 'tool' ELSE 'all' END
    AND ($among IS NULL OR list_contains($among, {value: by}))
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, strategies, harness_versions, definitions, trials}
),
sums AS (
  SELECT rate, arm, first, second, third, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total,
         sum(sessions)::BIGINT AS sessions
  FROM chosen GROUP BY ALL
),
{groups: rate, arm, first, second, third}
SELECT rate, arm, first, second, third, k, n, total, sessions, group_ids, group_k, group_n
FROM grouped
ORDER BY rate, arm, total DESC, first, second, third
