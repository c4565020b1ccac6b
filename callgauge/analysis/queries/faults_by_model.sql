-- title: Where each model goes wrong
-- question: How many of each model's calls went wrong, by the layer at which they did?
SELECT model, fault_layer, calls
FROM (
  SELECT
    model,
    unnest(['emission', 'syntax', 'schema', 'tool_rejected', 'execution', 'refused']) AS fault_layer,
    unnest([
      sum(fault_emission), sum(fault_syntax), sum(fault_schema),
      sum(fault_tool_rejected), sum(fault_execution), sum(fault_refused)
    ]) AS calls
  FROM daily_calls
  WHERE trial_run IS NULL
  GROUP BY model
)
WHERE calls > 0
ORDER BY calls DESC, model, fault_layer
