-- title: Calls for a test set
-- question: For each of these calls, what did the model get and write, and which later attempt was valid?
-- unit: one row per call
-- column earlier: number of calls in earlier steps of the same turn
-- column prompt_name: name of the prompt in the log
-- column prompt_version: version name of the prompt in the log
-- column offered_tools: tools that the log lists as offered in the turn
-- column corrected: arguments of the first later clean attempt, if the retry sequence recovered
-- note: Messages and results are shown as stored, so long ones end after 2,000 characters.
WITH chosen AS (
  SELECT * FROM tool_calls WHERE list_contains($calls, call_id) AND NOT coalesce(duplicate, false)
),
later AS (
  SELECT c.call_id, arg_min(a.raw_arguments, a.attempt) AS corrected
  FROM chosen c JOIN tool_calls a ON a.chain_id = c.chain_id AND a.turn_id = c.turn_id AND a.attempt > c.attempt AND a.tool = c.tool
  WHERE c.chain_outcome = 'recovered' AND a.fault_layer IS NULL AND a.outcome = 'clean' AND a.args_source = 'raw'
    AND NOT coalesce(a.duplicate, false)
  GROUP BY c.call_id
),
before AS (
  SELECT c.call_id, count(*)::BIGINT AS earlier
  FROM chosen c JOIN tool_calls e ON e.turn_id = c.turn_id AND e.step < c.step
  WHERE NOT coalesce(e.duplicate, false) GROUP BY c.call_id
),
asked AS (
  SELECT turn_id, arg_min(user_text, file_id) AS user_text, arg_min(prompt_id, file_id) AS turn_prompt,
         arg_min(prompt_hash, file_id) AS prompt_hash, arg_min(offered_tools, file_id) AS offered_tools
  FROM turns WHERE turn_id IN (SELECT turn_id FROM chosen) AND NOT coalesce(duplicate, false) GROUP BY turn_id
),
prompted AS (
  SELECT prompt_id AS turn_prompt, text_hash AS prompt_hash, any_value(text) AS prompt FROM prompt_texts GROUP BY ALL
),
named AS (
  SELECT prompt_id AS turn_prompt, any_value(name) AS prompt_name, any_value(version) AS prompt_version
  FROM prompts GROUP BY prompt_id
)
SELECT call_id, session_id, turn_id, step, provider, model, source, tool, tools_offered, offered_tools,
       args_source, raw_arguments, outcome, fault_layer, parse_error, definition_id, user_text, prompt, prompt_name,
       prompt_version, coalesce(earlier, 0)::BIGINT AS earlier, corrected
FROM chosen LEFT JOIN asked USING (turn_id) LEFT JOIN prompted USING (turn_prompt, prompt_hash)
LEFT JOIN named USING (turn_prompt)
LEFT JOIN later USING (call_id) LEFT JOIN before USING (call_id)
ORDER BY ts DESC NULLS LAST, session_id, turn_id, step, ordinal, call_id
