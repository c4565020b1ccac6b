-- title: Calls by day and model
-- question: How many calls did each model make on each day, and how many had their arguments refused?
SELECT day, model, sum(calls) AS calls, sum(fault_syntax + fault_schema) AS refused
FROM daily_calls
WHERE trial_run IS NULL
GROUP BY ALL
ORDER BY day, calls DESC
