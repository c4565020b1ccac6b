-- title: What correlates with failures
-- question: How often do arguments fail in calls that are long, deep, not in English letters, late, or made among many tools?
-- unit: calls
-- days: added up
-- column trait: length (bytes of the raw arguments), depth (of nesting), non_ascii (bytes beyond one a character), turn (its number), offered (tools the model could choose from)
-- column class: orders the classes of a trait, as the page names them
-- column sessions: in which n was observed
-- column group_ids: the groups of sessions in which n was observed, of fifty, in order; group_k and group_n are k and n of each of them
-- note: k are parse errors: arguments that the agent or our parser found invalid; n the calls whose arguments were judged and whose trait is known. The depth of a text that is not JSON is not known.
-- note: What correlates with failures need not cause them: the same tool or model may have both.
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
