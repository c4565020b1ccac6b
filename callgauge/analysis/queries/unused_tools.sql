-- title: Tools that nobody calls
-- question: Which tools are defined, but were never called?
SELECT d.tool, any_value(d.origin) AS defined_in, max(length(d.definition)) AS characters
FROM tool_definitions d
ANTI JOIN daily_calls c ON c.tool = d.tool AND c.trial_run IS NULL
WHERE d.tool IS NOT NULL
GROUP BY d.tool
ORDER BY characters DESC
