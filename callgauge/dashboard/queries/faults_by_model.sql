-- title: Where each model goes wrong
-- question: How many of each model's calls went wrong, by the layer at which they did?
SELECT model, fault_layer, count(*) AS calls
FROM tool_calls
WHERE NOT duplicate AND trial_run IS NULL AND fault_layer IS NOT NULL
GROUP BY ALL
ORDER BY calls DESC
