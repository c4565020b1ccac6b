-- title: Strategy and probe audit
-- question: Does each model on each host get the calling strategy that suits it?
-- unit: one row a model, provider and strategy; calls, the rate of parse errors is k / n
-- column provider: the host; 'unknown' where the log names none
-- column strategy: tool_use (native calls) or json_fallback (calls written as text); 'none' where there are only probes
-- column total: all calls; total - n is unmeasured
-- column probes: trial calls of this model on this host, in the chosen days and sources
-- column last_ok: how the last probe ended; last_day and last_error are its day and why it failed
-- note: A probe is a gateway's trial call that finds out whether a model supports native tool use.
-- note: Probes know no prompt and no tool: those filters narrow the calls only.
WITH called AS (
  SELECT coalesce(model, 'unknown') AS model, coalesce(provider, 'unknown') AS provider,
         coalesce(strategy, 'unknown') AS strategy,
         sum(k) AS k, sum(n) AS n, sum(total) AS total, sum(sessions) AS sessions, sum(kk) AS kk, sum(kn) AS kn, sum(nn) AS nn
  FROM daily_rates
  WHERE rate = 'parse_error' AND cut = if($tools IS NULL, 'all', 'tool')
    AND {filters: tools, days, models, prompts, sources}
  GROUP BY ALL
),
probed AS (
  SELECT coalesce(model, 'unknown') AS model, coalesce(provider, 'unknown') AS provider,
         count(*) AS probes, count(*) FILTER (ok) AS probes_ok,
         arg_max(ok, coalesce(ts, day::TIMESTAMP, TIMESTAMP '0001-01-01')) AS last_ok,
         max(day) AS last_day,
         arg_max(error, ts) FILTER (error IS NOT NULL) AS last_error
  FROM probes
  WHERE {filters: days, models, sources}
  GROUP BY ALL
)
SELECT coalesce(c.model, p.model) AS model, coalesce(c.provider, p.provider) AS provider,
       coalesce(c.strategy, 'none') AS strategy,
       coalesce(k, 0)::BIGINT AS k, coalesce(n, 0)::BIGINT AS n, coalesce(total, 0)::BIGINT AS total,
       coalesce(sessions, 0)::BIGINT AS sessions,
       coalesce(kk, 0)::BIGINT AS kk, coalesce(kn, 0)::BIGINT AS kn, coalesce(nn, 0)::BIGINT AS nn,
       coalesce(probes, 0)::BIGINT AS probes, coalesce(probes_ok, 0)::BIGINT AS probes_ok, last_ok, last_day, last_error
FROM called c FULL JOIN probed p ON c.model = p.model AND c.provider = p.provider
ORDER BY total DESC, model, provider, strategy
