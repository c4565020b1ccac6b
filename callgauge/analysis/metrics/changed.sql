-- title: Prompts and tools that changed
-- question: Which prompts and tool definitions have more than one version, and when was the newest version first used?
-- unit: one row per prompt or tool in one source
-- note: A named prompt has changed if its text differs, with the same or a new version name. Prompts without a name are listed together, because the log does not say which prompt replaced which.
-- column versions: number of different prompt texts or tool definitions
-- column changed: time at which the newest version was first used
-- column uses: number of turns with the prompt, or of calls of the tool
-- column found: number of all matching rows; this answer is one page of them
WITH prompts_of AS (
  SELECT 'prompt' AS kind, source, coalesce(name, '') AS name, prompt_id AS id, prompt_hash AS hash,
         sum(turns) AS uses, min(first_ts) AS began, min(day) AS first_day, max(day) AS last_day
  FROM daily_prompts LEFT JOIN prompts USING (prompt_id)
  WHERE prompt_hash IS NOT NULL AND {filters: trials}
  GROUP BY ALL
),
tools_of AS (
  SELECT 'tool' AS kind, source, coalesce(tool, '') AS name, definition_id AS id, NULL AS hash,
         sum(calls) AS uses, min(first_ts) AS began, min(day) AS first_day, max(day) AS last_day
  FROM daily_definitions
  WHERE {filters: trials}
  GROUP BY ALL
)
SELECT kind, source, coalesce(any_value(title), source) AS title, name, count(*)::BIGINT AS versions,
       max(began) AS changed, min(first_day) AS first_day, max(last_day) AS last_day, sum(uses)::BIGINT AS uses,
       (count(*) OVER ())::BIGINT AS found
FROM (FROM prompts_of UNION ALL FROM tools_of) LEFT JOIN sources USING (source)
WHERE {filters: sources}
GROUP BY kind, source, name
HAVING count(*) > 1
ORDER BY changed DESC NULLS LAST, uses DESC, kind, source, name
LIMIT $limit OFFSET $offset
