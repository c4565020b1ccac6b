-- title: What correlates with failures
-- question: How often do arguments fail in calls with long, deeply nested or non-ASCII arguments, in late turns, or with many offered tools?
-- unit: calls
-- days: added up
-- column trait: length (bytes of the raw arguments), depth (levels of nesting), non_ascii (bytes of non-ASCII characters beyond one each), turn (number of the turn) or offered (number of tools that the model could choose from)
-- column class: position of the class among the classes of the property, as named on the page
-- column sessions: sessions with an observation
-- column group_ids: ids of the random session groups with an observation, in order
-- column group_k: k in each of these groups
-- column group_n: n in each of these groups
-- note: k counts parse errors: calls whose arguments the agent or the parser found invalid. n counts calls whose arguments were judged and whose property is known. The depth of a text that is not JSON is unknown.
-- note: A property that correlates with failures need not cause them. The tool or the model may explain both.
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
