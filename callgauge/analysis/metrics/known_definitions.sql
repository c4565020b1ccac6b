-- title: Known definitions
-- question: Which tool definitions are in the store, and how often was each called?
-- unit: one row per definition; the tool with the latest call first, and for each tool the newest definition first
-- column number: 1 = the tool's definition that appeared first; loading older logs can change the numbers
-- column calls: calls with this definition; 0 if the definition was only given with --tools
-- column found: number of all definitions; this answer contains the first of them
WITH used AS (
  SELECT definition_id, sum(calls)::BIGINT AS calls, min(first_ts) AS began, max(last_ts) AS ended,
         min(day) AS first_day, max(day) AS last_day
  FROM daily_definitions WHERE definition_id IS NOT NULL AND {filters: trials}
  GROUP BY definition_id
),
known AS (
  SELECT definition_id, any_value(tool) AS tool FROM tool_definitions
  WHERE tool IS NOT NULL
    AND (definition_id IN (SELECT definition_id FROM used)
         OR $runs IS NULL AND $arms IS NULL AND definition_id NOT IN (SELECT definition_id FROM daily_definitions WHERE trial_run IS NOT NULL AND definition_id IS NOT NULL))
  GROUP BY definition_id
),
numbered AS (
  SELECT tool, definition_id, coalesce(calls, 0) AS calls, first_day, last_day, ended,
         row_number() OVER (PARTITION BY tool ORDER BY began NULLS FIRST, definition_id)::BIGINT AS number,
         count(*) OVER ()::BIGINT AS found
  FROM known LEFT JOIN used USING (definition_id)
)
SELECT tool, definition_id, number, calls, first_day, last_day, found
FROM numbered
ORDER BY max(ended) OVER (PARTITION BY tool) DESC NULLS LAST, tool, number DESC
LIMIT coalesce($limit, 2000)
