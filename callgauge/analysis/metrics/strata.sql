-- title: Mix-adjusted slices
-- question: Which work did each slice get, and what is its rate in each part of the work?
-- unit: calls, turns or retry sequences, depending on the rate; one row per slice and part of its work
-- days: added up
-- column rate: a rate of callgauge/analysis/measures/rates.py
-- column arm: the slice, a value of $by; 'all' without $by, 'unknown' if the log names none
-- column first: the value of $first; second: of $second; third: of $third
-- column k: hits of the rate
-- column n: calls, turns or retry sequences on which it was measured
-- column total: all, measured or not; total - n were not measured
-- column sessions: sessions with an observation
-- column group_ids: groups of sessions (of fifty) with an observation, in order; group_k and group_n: k and n of each
-- note: Two slices may get different work, and the one with the harder tools looks worse. Each group of equal work is compared separately. The differences are averaged, weighted by how much both slices have of each group (Mantel–Haenszel).
-- note: Counted in the daily sums. By tool, or with a filter on tools, a turn counts for every tool that it called.
-- $by, $first, $second and $third: model, provider, prompt, prompt_name, tool, definition, strategy, source,
-- harness_version, day. $among: values of $by.
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
