-- title: Versions of a definition
-- question: Which definitions has this tool had, and when was each definition used?
-- unit: one row per definition, newest first
-- column number: 1 = the version that appeared first
-- column calls: calls with this definition on the selected days
-- column origin: 'log', or the path of the file that contains the definition
-- column source: log format of the day with most calls of this definition
-- note: Versions are numbered in the order in which they first appear in the loaded logs, so loading older logs can change the numbers. Only the filters by day, source and tool apply. The filter by day changes the number of calls, not the version numbers.
WITH used AS (
  SELECT definition_id, arg_max(source, (calls, source)) AS source, min(first_ts) AS began, min(day) AS first_day, max(day) AS last_day,
         sum(calls) FILTER ({filters: days})::BIGINT AS calls
  FROM daily_definitions
  WHERE list_contains($tools, coalesce(tool, 'unknown'))
    AND {filters: sources, trials}
  GROUP BY definition_id
),
numbered AS (
  SELECT *, row_number() OVER (ORDER BY began NULLS FIRST, definition_id)::BIGINT AS number FROM used
),
texts AS (
  SELECT definition_id, any_value(origin) AS origin, any_value(description) AS description, any_value(definition) AS definition
  FROM tool_definitions WHERE definition_id IN (SELECT definition_id FROM used) GROUP BY definition_id
)
SELECT number, definition_id, origin, source, began, first_day, last_day, calls, description, definition
FROM numbered LEFT JOIN texts USING (definition_id)
WHERE calls > 0
ORDER BY number DESC
LIMIT coalesce($limit, 50)
