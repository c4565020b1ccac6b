-- title: Redacted arguments
-- question: In which sources does a placeholder replace the arguments?
-- unit: calls
-- note: The outcome of a call with redacted arguments is not measured.
WITH of_calls AS (
  SELECT source, count(*) FILTER (args_source = 'redacted') AS redacted, count(*) AS calls
  FROM tool_calls
  WHERE NOT coalesce(duplicate, false) AND {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY source
)
SELECT source, coalesce(title, source) AS title, redacted::BIGINT AS redacted, calls::BIGINT AS calls
FROM of_calls LEFT JOIN sources USING (source)
WHERE redacted > 0
ORDER BY redacted DESC, source
