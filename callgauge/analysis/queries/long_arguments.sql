-- title: The longest arguments of a day
-- question: Which calls of the newest day have the longest raw arguments, and how do they begin?
SELECT call_id, model, tool, outcome, length(raw_arguments) AS characters, left(raw_arguments, 200) AS begins
FROM tool_calls
WHERE NOT duplicate AND trial_run IS NULL AND day = (SELECT max(day) FROM daily_calls WHERE trial_run IS NULL)
ORDER BY characters DESC NULLS LAST
LIMIT 100
