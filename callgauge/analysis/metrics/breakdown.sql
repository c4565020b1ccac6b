-- title: Comparison by model, tool, prompt or host
-- question: How do two slices compare within each model, tool, prompt or host?
-- unit: calls, turns or retry sequences, depending on the rate; the rate is k / n
-- days: added up
-- column rate: name of a rate in callgauge/analysis/measures/rates.py
-- column dimension: the dimension of this row, one of $dimensions
-- column slice: the value of the dimension; 'unknown' if the log does not name the value
-- column also: the compared slice, a value of $by; 'all' if $by is not set
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
-- note: An overall difference can hide that one model got worse while the others did not. These rows show each model, tool, prompt or host separately.
-- note: The numbers come from the daily sums. With one row per tool, a turn and its session count for every tool that the turn called.
-- $dimensions: model, tool, prompt, provider. $by: model, provider, prompt, prompt_name, tool, definition, strategy, source,
-- harness_version, day. $among: only these values of $by.
WITH
named AS NOT MATERIALIZED (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name FROM daily_rates c LEFT JOIN prompts p USING (prompt_id)
),
asked AS (
  SELECT unnest($dimensions::VARCHAR[]) AS asked_for
),
chosen AS NOT MATERIALIZED (
  SELECT rate, asked_for AS dimension,
         CASE asked_for WHEN 'model' THEN coalesce(model, 'unknown') WHEN 'tool' THEN coalesce(tool, 'unknown')
           WHEN 'provider' THEN coalesce(provider, 'unknown') ELSE coalesce(prompt_id, 'unknown') END AS slice, {value: by} AS also, day, k, n, total, sessions, group_ids, group_k, group_n
  FROM named CROSS JOIN asked
  WHERE rate IN (SELECT unnest($rates::VARCHAR[]))
    AND cut = CASE WHEN $tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $definitions IS NOT NULL OR asked_for = 'tool'
                     OR coalesce($by, '') IN ('tool', 'mcp_server', 'definition') THEN 'tool' ELSE 'all' END
    AND ($among IS NULL OR list_contains($among, {value: by}))
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, strategies, harness_versions, definitions, trials}
),
by_day AS (
  SELECT rate, dimension, slice, also, day, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions
  FROM chosen GROUP BY ALL
),
{days: rate, dimension, slice, also},
{groups: rate, dimension, slice, also}
SELECT rate, dimension, slice, also, k, n, total, sessions, days, day_k, day_n, group_ids, group_k, group_n
FROM grouped
ORDER BY rate, dimension, also, total DESC, slice
