-- title: Earlier steps of a turn
-- question: What did the model write and call in each step of these turns, and what were the results?
-- unit: one row per call, and one row per text of the model
-- column text: text that the model wrote in addition to its calls; NULL in the row of a call
SELECT turn_id, step, ordinal, tool, args_source, raw_arguments, result_text, definition_id, NULL AS text
FROM tool_calls
WHERE list_contains($turns, turn_id) AND NOT coalesce(duplicate, false)
UNION ALL
SELECT turn_id, step, -1, NULL, NULL, NULL, NULL, NULL, arg_min(text, file_id)
FROM step_texts
WHERE list_contains($turns, turn_id)
GROUP BY turn_id, step
ORDER BY turn_id, step, ordinal
