-- title: Mix-adjusted slices
-- question: What work did each slice get, and how often did it happen in each part of it?
-- unit: calls, turns or retry sequences, as the rate says; one row a slice and part of its work
-- days: added up
-- column rate: which rate, see callgauge/analysis/measures/rates.py
-- column arm: the slice, the value of $by; 'all' without it, 'unknown' where the log names none
-- column first: the value of $first in this stratum, as second of $second and third of $third
-- column k: observed with it
-- column n: calls or turns on which it was measured
-- column total: all there are; total - n were not measured
-- column sessions: in which n was observed
-- column group_ids: the groups of sessions in which n was observed, of fifty, in order; group_k and group_n are k and n of each of them
-- note: Two arms may get different work: the one with the harder tools looks worse. Each stratum is compared with itself, and the differences of two arms are averaged, weighted by how much both have of each stratum (Mantel–Haenszel).
-- note: From the daily sums. By tool, or where tools are chosen, a turn counts for every tool that it called.
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
