-- title: What correlates with failures
-- question: How often do arguments fail in calls that are long, deep, not in English letters, late, or made with many tools offered?
-- unit: calls
-- days: added up
-- column trait: length (bytes of the raw arguments), depth (of nesting), non_ascii (bytes beyond one a character), turn (its number), offered (tools the model could choose from)
-- column class: order of the trait's classes, as named on the page
-- column sessions: sessions with an observation
-- column group_ids: groups of sessions (of fifty) with an observation, in order; group_k and group_n: k and n of each
-- note: k counts parse errors: arguments that the agent or the parser found invalid. n counts calls whose arguments were judged and whose trait is known. The depth of a text that is not JSON is unknown.
-- note: What correlates with failures need not cause them. The same tool or model may explain both.
WITH
chosen AS NOT MATERIALIZED (
  FROM daily_traits
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
),
sums AS (
  SELECT trait, class, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(sessions)::BIGINT AS sessions
  FROM chosen GROUP BY ALL
),
{groups: trait, class}
SELECT trait, class, k, n, sessions, group_ids, group_k, group_n
FROM grouped
ORDER BY trait, class
