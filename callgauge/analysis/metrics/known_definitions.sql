-- title: Known definitions
-- question: Which tool definitions does the store hold, and how often was each called?
-- unit: one row a definition, by tool; the tool last called first, of a tool the newest first
-- column number: 1 for the tool's first that appears; loading older logs can shift the numbers
-- column calls: under this definition; 0 for one that was only given with --tools
-- column found: definitions in all, of which the first are listed
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
