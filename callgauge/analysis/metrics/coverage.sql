-- title: What each source contains
-- question: For how many calls and turns does each source contain the data that a measure needs?
-- unit: calls; turns in the column turns and in columns that end in _turns
-- days: added up
-- note: Log formats record different data. What a log does not record is not measured. Missing data never counts as success or failure.
-- column parse_known: calls for which it is known whether the arguments were valid JSON
-- column mend_known: calls whose argument text or tool definition is available
-- column definition_known: calls that our parser checked against a tool definition
-- column result_known: calls whose result is ok, an error or a denial
-- column recorded_turns: turns whose success the log reports
WITH of_calls AS (
  SELECT source, sum(calls) AS calls, sum(parse_known) AS parse_known, sum(mend_known) AS mend_known,
         sum(syntax_full) AS text_known, sum(schema_full) AS definition_known,
         sum(result_ok + result_error + result_denied) AS result_known,
         sum(calls) FILTER (model IS NOT NULL) AS model_known, sum(calls) FILTER (prompt_id IS NOT NULL) AS prompt_known
  FROM daily_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
  GROUP BY source
),
of_turns AS (
  SELECT source, sum(turns) AS turns, sum(recorded_known) AS recorded_turns, sum(derived_known) AS derived_turns
  FROM daily_turns
  WHERE {filters: days, models, providers, prompts, sources, trials}
  GROUP BY source
)
SELECT source, coalesce(title, source) AS title,
       raw_arguments, argument_failures, error_flag, definitions, system_prompt, s.model, turn_end, cannot_tell,
       coalesce(calls, 0)::BIGINT AS calls, coalesce(parse_known, 0)::BIGINT AS parse_known,
       coalesce(mend_known, 0)::BIGINT AS mend_known, coalesce(text_known, 0)::BIGINT AS text_known,
       coalesce(definition_known, 0)::BIGINT AS definition_known, coalesce(result_known, 0)::BIGINT AS result_known,
       coalesce(model_known, 0)::BIGINT AS model_known, coalesce(prompt_known, 0)::BIGINT AS prompt_known,
       coalesce(turns, 0)::BIGINT AS turns, coalesce(recorded_turns, 0)::BIGINT AS recorded_turns,
       coalesce(derived_turns, 0)::BIGINT AS derived_turns
FROM of_calls FULL JOIN of_turns USING (source) LEFT JOIN sources s USING (source)
ORDER BY calls DESC, source
