-- title: Tool results of a turn
-- question: Which arguments did the calls of these turns have, and what were their results?
-- unit: one row per call with a result
-- column arguments: decoded arguments as JSON; NULL if the arguments could not be read
-- note: Results are shown as stored, so long results end after 2,000 characters.
SELECT turn_id, step, ordinal, tool, arguments, result_status, fault_layer, result_text
FROM tool_calls
WHERE list_contains($turns, turn_id) AND tool IS NOT NULL AND result_text IS NOT NULL AND NOT coalesce(duplicate, false)
ORDER BY turn_id, step, ordinal
