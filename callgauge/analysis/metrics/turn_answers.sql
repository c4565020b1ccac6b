-- title: What the tools of a turn answered
-- question: Which arguments did the calls of these turns have, and what came back?
-- unit: one row a call with a result
-- column arguments: as they were read, JSON; NULL where nothing could be read
-- note: Results are as the store keeps them: long ones are cut at 2,000 characters.
SELECT turn_id, step, ordinal, tool, arguments, result_status, fault_layer, result_text
FROM tool_calls
WHERE list_contains($turns, turn_id) AND tool IS NOT NULL AND result_text IS NOT NULL AND NOT coalesce(duplicate, false)
ORDER BY turn_id, step, ordinal
