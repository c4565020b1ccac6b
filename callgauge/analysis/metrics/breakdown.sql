-- title: Arms broken down
-- question: How often does it happen in each of the two slices compared, within each model, tool, prompt or host?
-- unit: calls, turns or retry sequences, as the rate says; the rate is k / n
-- days: added up
-- column rate: which rate, see callgauge/analysis/measures/rates.py
-- column dimension: what `slice` is a value of: one of $dimensions
-- column slice: the value of the dimension, 'unknown' where the log names none
-- column also: the slice compared: the value of $by; 'all' without it
-- column k: observed with it
-- column n: calls or turns on which it was measured
-- column total: all there are; total - n were not measured
-- column sessions: in which n was observed
-- column days: the days on which n was observed, in order; day_k and day_n are k and n of each of them
-- column group_ids: the groups of sessions in which n was observed, of fifty, in order; group_k and group_n are k and n of each of them
-- note: A difference over everything may hide that one model got worse while the others stayed. So it is shown within each model, tool, prompt and host, too.
-- note: From the daily sums. By tool, a turn counts for every tool that it called, and so does its session.
-- $dimensions: model, tool, prompt, provider. $by: model, provider, prompt, prompt_name, tool, definition, strategy, source,
-- harness_version, day. $among: values of $by.
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
