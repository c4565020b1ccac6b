-- title: Rates by any dimension
-- question: What is each rate in each slice, and how certain is it?
-- unit: calls, turns or retry sequences, depending on the rate; the rate is k / n
-- days: added up
-- column rate: a rate of callgauge/analysis/measures/rates.py
-- column slice: the value of $by; 'all' without $by, 'unknown' if the log names none
-- column also: the value of $also, a second dimension; 'all' without $also
-- column k: hits of the rate
-- column n: calls, turns or retry sequences on which it was measured
-- column total: all, measured or not; total - n were not measured
-- column sessions: sessions with an observation
-- column days: days with an observation, in order; day_k and day_n: k and n of each
-- column group_ids: groups of sessions (of fifty) with an observation, in order; group_k and group_n: k and n of each
-- note: A parse error is a call whose arguments are not JSON, or do not fit the tool's definition. Without a definition only JSON syntax is measured. A schema error that only the log reports is in neither k nor n.
-- note: Repairs are measured if the log has the model's own text, conversions if there is a definition, Needed repair if there are both.
-- note: A retry is the same tool called again after a failure, in a later step of the same turn, or a call that the log names as a retry. A turn counts once, regardless of the number of retries.
-- note: Turn success is reported by the log, else derived. Derived success: the turn ended with an answer, no call was given up before it reached its tool, and no call was lost. A tool that ran and failed does not count.
-- note: What could not be measured is in neither number of a rate. It counts neither as success nor as failure.
-- note: Counted in the daily sums. By tool or MCP server, or with a filter on them, a turn counts for every tool that it called.
-- note: A session counts once for each of its days, models and prompts, and by tool for each tool.
-- note: Every session is in one of fifty random groups. The interval comes from how much a rate, or a difference, changes when one group is left out.
-- $by and $also: model, provider, prompt, prompt_name, tool, mcp_server, definition, strategy, source, harness_version, day.
WITH
named AS NOT MATERIALIZED (
  SELECT c.*, coalesce(p.name, c.prompt_id) AS prompt_name FROM daily_rates c LEFT JOIN prompts p USING (prompt_id)
),
chosen AS NOT MATERIALIZED (
  SELECT rate, {value: by} AS slice, {value: also} AS also, day, k, n, total, sessions, group_ids, group_k, group_n
  FROM named
  WHERE rate IN (SELECT unnest($rates::VARCHAR[]))
    AND cut = CASE WHEN $tools IS NOT NULL OR $mcp_servers IS NOT NULL OR $definitions IS NOT NULL OR coalesce($by, '') IN ('tool', 'mcp_server', 'definition')
                     OR coalesce($also, '') IN ('tool', 'mcp_server', 'definition') THEN 'tool' ELSE 'all' END
    AND {filters: tools, mcp_servers, days, models, providers, prompts, sources, strategies, harness_versions, definitions, trials}
),
by_day AS (
  SELECT rate, slice, also, day, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total, sum(sessions)::BIGINT AS sessions
  FROM chosen GROUP BY ALL
),
{days: rate, slice, also},
{groups: rate, slice, also}
SELECT rate, slice, also, k, n, total, sessions, days, day_k, day_n, group_ids, group_k, group_n
FROM grouped
ORDER BY rate, total DESC, slice, also
