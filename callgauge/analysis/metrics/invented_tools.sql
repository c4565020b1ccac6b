-- title: Tools that were not offered
-- question: Which tools did models call although these tools were not offered, and which tools did the models probably mean?
-- unit: calls of a tool that is not in the log's list of offered tools
-- column models: models that called the tool
-- column model: the model that called the tool most often
-- column nearest: the offered tool with the most similar name in the same source; NULL if no name is similar
-- column example: id of the newest such call
-- note: Two names are similar if at most a quarter of their characters differ or are swapped. Only the first 100 characters are compared.
WITH
found AS (
  SELECT tool, model, source, sum(calls)::BIGINT AS calls,
         arg_max(example, (example_ts, example)) AS example, max(example_ts) AS example_ts
  FROM daily_parameters
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials} AND code = 'unknown_tool' AND tool IS NOT NULL
  GROUP BY ALL
),
listed AS (
  SELECT tool, sum(calls)::BIGINT AS calls, count(DISTINCT coalesce(model, 'unknown'))::BIGINT AS models,
         arg_max(coalesce(model, 'unknown'), (calls, coalesce(model, 'unknown'))) AS model, list(DISTINCT source) AS sources,
         arg_max(example, (example_ts, example)) AS example
  FROM found GROUP BY tool
  ORDER BY calls DESC, tool
  LIMIT coalesce($limit, 200)
),
offered AS (
  SELECT source, tool FROM daily_definitions WHERE definition_id IS NOT NULL AND tool IS NOT NULL AND {filters: trials}
  UNION
  SELECT source, tool FROM turns JOIN tool_lists USING (tool_list) WHERE tool_list IS NOT NULL AND {filters: trials}
),
compared AS (
  SELECT l.tool, o.tool AS other, damerau_levenshtein(l.tool[:100], o.tool[:100]) AS apart
  FROM listed l JOIN offered o
    ON list_contains(l.sources, o.source) AND o.tool <> l.tool
   AND abs(length(l.tool) - length(o.tool)) * 4 <= length(l.tool)
),
near AS (
  SELECT tool, arg_min(other, (apart, other)) AS nearest
  FROM compared WHERE apart * 4 <= length(tool[:100]) GROUP BY tool
)
SELECT tool, calls, models, model, nearest, example
FROM listed LEFT JOIN near USING (tool)
ORDER BY calls DESC, tool
