-- title: Days in the store
-- question: From which day to which day does the store have calls and turns?
-- unit: UTC days
SELECT min(day) AS first_day, max(day) AS last_day
FROM (SELECT day, trial_run, arm FROM daily_calls UNION ALL SELECT day, trial_run, arm FROM daily_turns)
WHERE {filters: trials}
