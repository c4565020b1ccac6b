-- title: Rates by any dimension
-- question: What is each rate in each slice, and how certain is the rate?
-- unit: calls, turns or retry sequences, depending on the rate; the rate is k / n
-- days: added up
-- column rate: name of a rate in callgauge/analysis/measures/rates.py
-- column slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column also: the value of $also, a second dimension; 'all' if $also is not set
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
-- note: A parse error is a call whose arguments are not JSON, or do not fit the tool's definition. Without a definition, only JSON syntax is measured. Calls with a schema error that only the log reports count in neither k nor n.
-- note: Repairs are measured if the log contains the model's own text, conversions if the definition is known, and Needed repair if both conditions hold.
-- note: A retry is a call of the same tool after a failure, in a later step of the same turn, or a call that the log names as a retry. For the retry rate, a turn counts once, regardless of its number of retries.
-- note: Turn success is reported by the log or, if the log does not report it, derived. A turn is derived as successful if it ended with an answer, no call was given up before it reached its tool, and no call was lost. It can be successful although a tool ran and failed.
-- note: What could not be measured counts in neither k nor n, so it is neither success nor failure.
-- note: The numbers come from the daily sums. With one row per tool or MCP server, or a filter on these, a turn counts for every tool that it called.
-- note: A session counts once for each of its days, models and prompts. With one row per tool, it counts for each tool.
-- note: Every session is in one of fifty random groups. The confidence interval comes from how much a rate, or a difference, changes when one group is left out.
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
