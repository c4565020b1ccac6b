-- title: Known definitions
-- question: Which tool definitions are in the store, and how often was each called?
-- unit: one row per definition: tools by last call, definitions of a tool newest first
-- column number: 1 = the tool's first to appear; loading older logs can shift the numbers
-- column calls: calls under this definition; 0 if it was only given with --tools
-- column found: number of definitions; the rows are the first of them
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
