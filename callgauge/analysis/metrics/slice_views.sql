-- title: Rates by several dimensions
-- question: What is each rate in each slice of several dimensions?
-- unit: calls, turns or retry sequences, depending on the rate; the rate is k / n
-- days: kept apart
-- column view: the number of the view in $views, from 0
-- column rate: name of a rate in callgauge/analysis/measures/rates.py
-- column slice: the value of the view's dimension `by`; 'all' without a dimension, 'unknown' if the log does not name the value
-- column also: the value of the view's second dimension `also`; 'all' without a second dimension
-- column k: hits: calls, turns or retry sequences that the rate counts
-- column n: calls, turns or retry sequences on which the rate was measured
-- column total: all calls, turns or retry sequences; on total - n of them the rate was not measured
-- column sessions: sessions with an observation
-- column days: days with an observation, in order
-- column day_k: k on each of these days
-- column day_n: n on each of these days
-- column group_ids: ids of the random session groups with an observation, in order
-- column group_k: k in each of these groups
-- column group_n: n in each of these groups
-- note: Each view has the same rows as the metric `slices` with the same filters. One query for all views takes half of the time.
-- note: The numbers come from the daily sums. With one row per tool or MCP server, or a filter on these, a turn counts for every tool that it called.
-- $views: JSON, a list of views. A view has the keys rates, by, also, from_day and to_day of the metric `slices`.
WITH
named AS NOT MATERIALIZED (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name FROM daily_rates c LEFT JOIN prompts p USING (prompt_id)
),
views AS (
  SELECT v.view, unnest(v.rates) AS rate, v."by", v.also, v.from_day AS first_day, v.to_day AS last_day
  FROM (SELECT unnest(from_json(coalesce($views, '[]'),
    '[{"view": "INTEGER", "rates": ["VARCHAR"], "by": "VARCHAR", "also": "VARCHAR", "from_day": "DATE", "to_day": "DATE"}]')) AS v)
),
chosen AS NOT MATERIALIZED (
  SELECT view, rate, {value in: by} AS slice, {value in: also} AS also, day, k, n, total, sessions, group_ids, group_k, group_n
  FROM named JOIN views USING (rate)
  WHERE (first_day IS NULL OR day >= first_day) AND (last_day IS NULL OR day <= last_day)
    AND cut = if(coalesce("by", '') IN ('tool', 'mcp_server', 'definition') OR coalesce(also, '') IN ('tool', 'mcp_server', 'definition')
                   OR $tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $definitions IS NOT NULL, 'tool', 'all')
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, strategies, harness_versions, definitions, trials}
),
by_day AS (
  SELECT view, rate, slice, also, day, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions
  FROM chosen GROUP BY ALL
),
{days: view, rate, slice, also},
{groups: view, rate, slice, also}
SELECT view, rate, slice, also, k, n, total, sessions, days, day_k, day_n, group_ids, group_k, group_n
FROM grouped
ORDER BY view, rate, total DESC, slice, also
