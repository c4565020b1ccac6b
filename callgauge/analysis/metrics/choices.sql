-- title: Filter choices
-- question: Which models, prompts, tools and other filter values are in the store, most used first?
-- unit: calls
-- days: added up
-- column value: the value that the filter compares; 'unknown' if the log does not name it, 'none' for tools without an MCP server
-- column label: the value as people read it; for a prompt without a name, its first words and the beginning of its id
-- column name: name of a prompt in the log
-- note: Trial runs and their variants are always listed. All other values come from the selected run or, without a selected run, from all calls outside of trials.
WITH
chosen_calls AS NOT MATERIALIZED (
  FROM daily_calls WHERE {filters: trials}
),
chosen_turns AS NOT MATERIALIZED (
  FROM daily_turns WHERE {filters: trials}
),
chosen_sessions AS NOT MATERIALIZED (
  FROM sessions WHERE NOT coalesce(duplicate, false) AND {filters: trials}
),
used AS (
  SELECT 'model' AS dimension, coalesce(model, 'unknown') AS value, calls FROM chosen_calls UNION ALL
  SELECT 'prompt', coalesce(prompt_id, 'unknown'), calls FROM chosen_calls UNION ALL
  SELECT 'tool', coalesce(tool, 'unknown'), calls FROM chosen_calls UNION ALL
  SELECT 'mcp_server', coalesce(mcp_server, 'none'), calls FROM chosen_calls UNION ALL
  SELECT 'source', source, calls FROM chosen_calls UNION ALL
  SELECT 'provider', coalesce(provider, 'unknown'), calls FROM chosen_calls UNION ALL
  SELECT 'strategy', coalesce(strategy, 'unknown'), calls FROM chosen_calls UNION ALL
  SELECT 'harness_version', coalesce(harness_version, 'unknown'), total FROM daily_rates
  WHERE rate = 'emission' AND cut = 'all' AND {filters: trials} UNION ALL
  -- Turns without a call are turns all the same: their model must be selectable.
  SELECT 'model', coalesce(model, 'unknown'), 0 FROM chosen_turns UNION ALL
  SELECT 'prompt', coalesce(prompt_id, 'unknown'), 0 FROM chosen_turns UNION ALL
  SELECT 'source', source, 0 FROM chosen_turns UNION ALL
  SELECT 'provider', coalesce(provider, 'unknown'), 0 FROM chosen_turns UNION ALL
  SELECT 'run', trial_run, calls FROM daily_turns WHERE trial_run IS NOT NULL UNION ALL
  SELECT 'arm', coalesce(arm, 'unknown'), calls FROM daily_turns WHERE trial_run IS NOT NULL UNION ALL
  SELECT 'project', coalesce(project, 'unknown'), calls FROM chosen_sessions UNION ALL
  SELECT 'branch', coalesce(branch, 'unknown'), calls FROM chosen_sessions UNION ALL
  SELECT 'sub_agent', coalesce(sub_agent, 'unknown'), calls FROM chosen_sessions UNION ALL
  SELECT 'environment', coalesce(environment, 'unknown'), calls FROM chosen_sessions UNION ALL
  -- A run that has only begun.
  SELECT 'run', run, 0 FROM trial_runs WHERE NOT duplicate
),
beginnings AS (
  SELECT *, nullif(trim(regexp_replace(if(name IS NULL AND label IS NULL, left(text, 400), NULL), '\s+', ' ', 'g')), '') AS said
  FROM prompts
),
prompt_labels AS (
  SELECT prompt_id AS value, max(name) AS name,
         coalesce(max(coalesce(label, name || coalesce('@' || version, ''))),
                  -- A word that the cut halves is left out; scripts without blanks have none.
                  max(if(length(said) <= 36, said, regexp_replace(left(said, 36), ' \S{0,12}$', '') || '…'))
                    || ' · ' || left(prompt_id, 7)) AS label
  FROM beginnings GROUP BY prompt_id
)
SELECT dimension, value,
       CASE WHEN dimension = 'prompt' THEN coalesce(any_value(label), value) ELSE value END AS label,
       if(dimension = 'prompt', any_value(name), NULL) AS name, sum(calls)::BIGINT AS calls
FROM used LEFT JOIN prompt_labels USING (value)
WHERE value IS NOT NULL
GROUP BY dimension, value
ORDER BY dimension, calls DESC, value
