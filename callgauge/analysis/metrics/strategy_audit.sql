-- title: Strategy and probe audit
-- question: Does each model on each host use the calling strategy that works best?
-- unit: one row per model, host and strategy; calls; the rate of parse errors is k / n
-- days: added up
-- column provider: the host; 'unknown' if the log does not name it
-- column strategy: tool_use (native calls) or json_fallback (calls written as text); 'none' if there are only probes
-- column total: number of all calls; on total - n of them the rate was not measured
-- column group_ids: ids of the random session groups with an observation, in order
-- column group_k: k in each of these groups
-- column group_n: n in each of these groups
-- column probes: probes of this model on this host, in the selected days and sources; a probe that several sessions share counts once
-- column last_ok: true if the last probe succeeded
-- column last_day: day of the last probe
-- column last_error: reason why the last probe failed
-- note: A probe is a trial call with which a gateway checks whether a model supports native tool use.
-- note: Probes have no prompt and no tool, so the filters by prompt and tool apply only to the other calls.
WITH
chosen AS NOT MATERIALIZED (
  SELECT coalesce(model, 'unknown') AS model, coalesce(provider, 'unknown') AS provider,
         coalesce(strategy, 'unknown') AS strategy, k, n, total, sessions, group_ids, group_k, group_n
  FROM daily_rates
  WHERE rate = 'parse_error' AND cut = if($tools IS NULL AND $mcp_servers IS NULL, 'all', 'tool')
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, trials}
),
sums AS (
  SELECT model, provider, strategy, sum(k) AS k, sum(n) AS n, sum(total) AS total, sum(sessions) AS sessions
  FROM chosen GROUP BY ALL
),
{groups: model, provider, strategy},
probed AS (
  SELECT coalesce(model, 'unknown') AS model, coalesce(provider, 'unknown') AS provider,
         count(*) FILTER (probe_id IS NULL) + count(DISTINCT probe_id) AS probes,
         count(*) FILTER (ok AND probe_id IS NULL) + count(DISTINCT probe_id) FILTER (ok) AS probes_ok,
         arg_max(ok, coalesce(ts, day::TIMESTAMP, TIMESTAMP '0001-01-01')) AS last_ok,
         max(day) AS last_day,
         arg_max(error, ts) FILTER (error IS NOT NULL) AS last_error
  FROM probes
  WHERE {filters: days, models, providers, sources, trials}
  GROUP BY ALL
)
SELECT coalesce(c.model, p.model) AS model, coalesce(c.provider, p.provider) AS provider,
       coalesce(c.strategy, 'none') AS strategy,
       coalesce(k, 0)::BIGINT AS k, coalesce(n, 0)::BIGINT AS n, coalesce(total, 0)::BIGINT AS total,
       coalesce(sessions, 0)::BIGINT AS sessions,
       coalesce(group_ids, []) AS group_ids, coalesce(group_k, []) AS group_k, coalesce(group_n, []) AS group_n,
       coalesce(probes, 0)::BIGINT AS probes, coalesce(probes_ok, 0)::BIGINT AS probes_ok, last_ok, last_day, last_error
FROM grouped c FULL JOIN probed p ON c.model = p.model AND c.provider = p.provider
ORDER BY total DESC, model, provider, strategy
