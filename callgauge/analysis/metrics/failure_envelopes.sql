-- title: Results that report a failure
-- question: How many results of a tool are a JSON object that reports a failure, and in which field?
-- unit: results; a call without a result is not counted
-- column field: name of the field: success, ok or status; NULL if the text of the result was deleted
-- column calls: results that count as failures because of this field
-- column results: number of all results of the tool
-- note: The log itself does not mark these calls as failed; it may even mark them as ok. `[failures]` in naming.toml defines which fields count.
WITH answered AS (
  SELECT tool, error_flag_source IN ('envelope', 'envelope_against_ok') AS is_envelope, result_text
  FROM tool_calls
  WHERE result_status <> 'missing' AND NOT coalesce(duplicate, false) AND tool IS NOT NULL
    AND {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
),
counted AS (
  SELECT tool, count(*) AS results, count(*) FILTER (is_envelope) AS envelopes FROM answered GROUP BY tool
),
by_field AS (
  SELECT tool,
         CASE WHEN regexp_matches(result_text, '[''"]success[''"]\s*:\s*[fF]alse') THEN 'success'
              WHEN regexp_matches(result_text, '[''"]ok[''"]\s*:\s*[fF]alse') THEN 'ok'
              WHEN regexp_matches(result_text, '[''"]status[''"]\s*:\s*[''"](?i:error)') THEN 'status' END AS field,
         count(*) AS calls
  FROM answered WHERE is_envelope GROUP BY ALL
)
SELECT tool, field, calls::BIGINT AS calls, results::BIGINT AS results
FROM by_field JOIN counted USING (tool)
ORDER BY calls DESC, tool, field
