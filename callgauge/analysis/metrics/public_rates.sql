-- title: Tool-call errors by the public definition
-- question: In how many requests did a model write a tool call that a strict check rejects?
-- unit: requests: replies of a model with at least one tool call
-- column rate: always tool_call_error, see callgauge/analysis/measures/rates.py
-- column slice: the value of $by; 'all' if $by is not set, 'unknown' if the log does not name the value
-- column also: the value of $also, a second dimension; 'all' if $also is not set
-- column first: the value of $first
-- column second: the value of $second
-- column third: the value of $third
-- column k: requests with at least one wrong call, of the requests in which every call could be checked
-- column n: requests in which every call could be checked
-- column total: all requests; in total - n of them at least one call could not be checked
-- column sessions: sessions with such a request
-- column days: days with such a request, in order
-- column day_k: k on each of these days
-- column day_n: n on each of these days
-- column group_ids: ids of the random session groups with such a request, in order
-- column group_k: k in each of these groups
-- column group_n: n in each of these groups
-- column calls: all calls of these requests; each call counts in exactly one of the next columns
-- column valid: calls that a strict check accepts
-- column not_json: calls whose text is not JSON
-- column unknown_tool: calls that name no offered tool
-- column schema_errors: calls with JSON that does not fit the tool's definition
-- column no_text: calls that were not checked: the log does not contain the model's own text
-- column no_definition: calls that were not checked: the tool's definition is unknown
-- column unclear: calls that were not checked completely: the parser does not check a keyword of the definition
-- note: A request counts as wrong if one of its calls is not JSON, names no offered tool, or does not fit the tool's definition. Repairs and conversions do not help: the text is checked as the model wrote it.
-- note: A call without the model's own text or without a definition is not checked. A request with such a call counts in neither k nor n, so it is neither right nor wrong.
-- note: `format` is a hint in JSON Schema, so a wrong date or e-mail address does not count as an error. An undeclared parameter is an error only if the definition has additionalProperties: false.
-- note: OpenRouter publishes the tool-call error rate, which is k / n. K2-Vendor-Verifier publishes the schema accuracy, which is 1 - k / n.
-- note: The strata of a request with several calls are those of its first call.
-- $by, $also, $first, $second and $third: model, provider, prompt, tool, mcp_server, definition, strategy, source, day.
WITH
chosen_calls AS NOT MATERIALIZED (
  SELECT call_id, file_id, source, session_id, turn_id, coalesce(step::VARCHAR, call_id) AS step, ordinal, day, provider, model, prompt_id, tool,
         mcp_server, strategy, definition_id, trial_run, arm, worst_severity, outcome, args_source = 'raw' AND syntax_seen = 'full' AS has_text,
         coalesce(schema_seen = 'full', false) AS has_definition
  FROM tool_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, strategies, definitions, trials}
    AND NOT coalesce(duplicate, false)
),
-- What each definition forbids, only for the definitions of calls with a finding that depends on it.
definitions AS (
  SELECT definition_id, any_value(coalesce(json_extract_string(definition, '$.additionalProperties') = 'false', false)) AS is_closed,
         any_value(coalesce(json_extract_string(definition, '$.required[*]'), [])) AS required,
         any_value(len(regexp_extract_all(definition, '"(additionalProperties|unevaluatedProperties)"\s*:\s*false'))) AS closed
  FROM tool_definitions
  SEMI JOIN (FROM chosen_calls WHERE has_text AND has_definition AND worst_severity IS NOT NULL) USING (definition_id)
  WHERE json_valid(definition)
  GROUP BY definition_id
),
findings AS (
  SELECT f.call_id, f.file_id, f.code, f.stage, f.found, f.became, f.path, coalesce(d.is_closed, false) AS is_closed, d.required,
         coalesce(d.closed, 0) > coalesce(d.is_closed, false)::INTEGER AS is_closed_below,
         coalesce(regexp_full_match(f.path, '\$(\.\w+|\["([^"\\]|\\.)*"\])'), false) AS is_top
  FROM diagnostics f
  JOIN (FROM chosen_calls WHERE has_text AND has_definition AND worst_severity IS NOT NULL) c USING (call_id, file_id)
  LEFT JOIN definitions d USING (definition_id)
),
judged AS (
  SELECT call_id, file_id,
    CASE
      WHEN code IN ('unknown_tool', 'tool_name_cleaned') THEN 'unknown_tool'
      -- The text is JSON, but a JSON text in a string, which is no object.
      WHEN code = 'string_encoding_removed' THEN 'schema'
      WHEN code IN ('duplicate_key', 'repeated_member', 'lone_surrogate', 'invalid_utf8') THEN 'valid'
      WHEN code = 'non_finite_number' AND regexp_matches(found, '^-?\d') THEN 'unclear'
      WHEN code IN ('call_envelope_removed', 'arguments_envelope_removed') THEN if(is_closed OR len(required) > 0, 'schema', 'valid')
      WHEN stage IN ('unwrap', 'repair') THEN 'not_json'
      WHEN code IN ('number_coerced_to_integer', 'string_literal_converted_to_null', 'timestamp_without_offset', 'timestamp_normalised',
                    'format_mismatch', 'uri_not_absolute', 'default_applied', 'default_not_applied', 'tool_definition_missing') THEN 'valid'
      WHEN code = 'unsupported_timestamp_literal' AND found IS NULL THEN 'unclear'
      WHEN code = 'unsupported_timestamp_literal' THEN if(left(found, 1) = '"', 'valid', 'schema')
      WHEN code = 'unknown_parameter' AND is_top THEN if(is_closed, 'schema', 'valid')
      WHEN code = 'parameter_name_normalised' AND is_top
        THEN if(is_closed OR list_contains(required, coalesce(became, substr(path, 3))), 'schema', 'valid')
      WHEN code IN ('unknown_parameter', 'parameter_name_normalised') THEN if(is_closed_below, 'unclear', 'valid')
      WHEN code IN ('non_string_literal_retained', 'object_retained_as_text', 'string_literal_converted_to_boolean',
                    'number_coerced_to_boolean', 'fractional_number_truncated_to_integer', 'string_literal_converted_to_integer',
                    'string_literal_converted_to_number', 'string_literal_converted_to_object', 'string_literal_converted_to_array',
                    'scalar_coerced_to_list', 'separated_text_coerced_to_list', 'epoch_converted_to_timestamp', 'enum_case_normalised',
                    'optional_null_dropped', 'unsupported_boolean_literal', 'unsupported_integer_literal', 'unsupported_number_literal',
                    'unsupported_object_literal', 'unsupported_array_literal', 'unsupported_uri_literal', 'unsupported_string_literal',
                    'arguments_must_be_object', 'missing_required', 'null_not_allowed', 'enum_out_of_range', 'const_mismatch',
                    'number_out_of_bounds', 'size_out_of_bounds', 'items_not_unique', 'pattern_mismatch', 'value_not_allowed',
                    'contains_mismatch', 'property_name_not_allowed', 'several_branches_fit') THEN 'schema'
      -- pattern_not_checked, schema_keyword_unsupported, nested_too_deep, and codes of other versions of the parser.
      ELSE 'unclear' END AS verdict
  FROM findings
),
-- The first check that fails names the error. A call with an error is wrong, whatever else could not be checked.
errors AS (
  SELECT call_id, file_id,
         CASE WHEN bool_or(verdict = 'not_json') THEN 'not_json' WHEN bool_or(verdict = 'unknown_tool') THEN 'unknown_tool'
           WHEN bool_or(verdict = 'schema') THEN 'schema' WHEN bool_or(verdict = 'unclear') THEN 'unclear' ELSE 'valid' END AS verdict
  FROM judged GROUP BY call_id, file_id
),
checked AS NOT MATERIALIZED (
  SELECT c.*, CASE WHEN NOT coalesce(has_text, false) THEN 'no_text' WHEN NOT has_definition THEN 'no_definition'
                ELSE coalesce(e.verdict, if(outcome = 'clean', 'valid', 'unclear')) END AS verdict
  FROM chosen_calls c LEFT JOIN errors e USING (call_id, file_id)
),
-- Requests with several calls. Most requests have one call, and need no grouping.
parallel AS (SELECT DISTINCT file_id, turn_id, step FROM chosen_calls WHERE ordinal IS DISTINCT FROM 0),
requests AS (
  SELECT any_value(source) AS source, any_value(session_id) AS session_id, any_value(day) AS day, any_value(trial_run) AS trial_run,
         any_value(arm) AS arm, arg_min(provider, ordinal) AS provider, arg_min(model, ordinal) AS model, arg_min(prompt_id, ordinal) AS prompt_id,
         arg_min(tool, ordinal) AS tool, arg_min(mcp_server, ordinal) AS mcp_server, arg_min(strategy, ordinal) AS strategy,
         arg_min(definition_id, ordinal) AS definition_id,
         bool_and(verdict NOT IN ('no_text', 'no_definition', 'unclear')) AS is_checked,
         bool_or(verdict IN ('not_json', 'unknown_tool', 'schema')) AS is_wrong,
         count(*) AS calls, count_if(verdict = 'valid') AS valid, count_if(verdict = 'not_json') AS not_json,
         count_if(verdict = 'unknown_tool') AS unknown_tool, count_if(verdict = 'schema') AS schema_errors,
         count_if(verdict = 'no_text') AS no_text, count_if(verdict = 'no_definition') AS no_definition,
         count_if(verdict = 'unclear') AS unclear
  FROM checked c SEMI JOIN parallel p ON c.file_id IS NOT DISTINCT FROM p.file_id AND c.turn_id IS NOT DISTINCT FROM p.turn_id AND c.step = p.step
  GROUP BY c.file_id, c.turn_id, c.step
  UNION ALL BY NAME
  SELECT source, session_id, day, trial_run, arm, provider, model, prompt_id, tool, mcp_server, strategy, definition_id,
         verdict NOT IN ('no_text', 'no_definition', 'unclear') AS is_checked, verdict IN ('not_json', 'unknown_tool', 'schema') AS is_wrong,
         1 AS calls, (verdict = 'valid')::INTEGER AS valid, (verdict = 'not_json')::INTEGER AS not_json,
         (verdict = 'unknown_tool')::INTEGER AS unknown_tool, (verdict = 'schema')::INTEGER AS schema_errors,
         (verdict = 'no_text')::INTEGER AS no_text, (verdict = 'no_definition')::INTEGER AS no_definition,
         (verdict = 'unclear')::INTEGER AS unclear
  FROM checked c ANTI JOIN parallel p ON c.file_id IS NOT DISTINCT FROM p.file_id AND c.turn_id IS NOT DISTINCT FROM p.turn_id AND c.step = p.step
),
dimensions AS (SELECT *, NULL::VARCHAR AS harness_version, NULL::VARCHAR AS prompt_name FROM requests),
-- One row per session first, because the id of a session group is a hash.
by_session AS (
  SELECT {value: by} AS slice, {value: also} AS also, {value: first} AS first, {value: second} AS second, {value: third} AS third, day,
         source, session_id, count_if(is_checked AND is_wrong) AS k, count_if(is_checked) AS n, count(*) AS total,
         sum(calls) AS calls, sum(valid) AS valid, sum(not_json) AS not_json, sum(unknown_tool) AS unknown_tool,
         sum(schema_errors) AS schema_errors, sum(no_text) AS no_text, sum(no_definition) AS no_definition, sum(unclear) AS unclear
  FROM dimensions
  GROUP BY ALL
),
cells AS MATERIALIZED (
  SELECT 'tool_call_error' AS rate, slice, also, first, second, third, day,
         (('0x' || left(md5(coalesce(source, '') || chr(0) || coalesce(session_id, '')), 8))::UINTEGER % 50)::UTINYINT AS id,
         sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total,
         count(DISTINCT session_id) FILTER (n > 0) AS sessions,
         sum(calls) AS calls, sum(valid) AS valid, sum(not_json) AS not_json, sum(unknown_tool) AS unknown_tool,
         sum(schema_errors) AS schema_errors, sum(no_text) AS no_text, sum(no_definition) AS no_definition, sum(unclear) AS unclear
  FROM by_session
  GROUP BY ALL
),
counts AS (
  SELECT slice, also, first, second, third, sum(COLUMNS(
    ['calls', 'valid', 'not_json', 'unknown_tool', 'schema_errors', 'no_text', 'no_definition', 'unclear']))::BIGINT
  FROM cells GROUP BY slice, also, first, second, third
),
chosen AS (
  SELECT rate, slice, also, first, second, third, list(id ORDER BY id) AS group_ids, list(k ORDER BY id) AS group_k,
         list(n ORDER BY id) AS group_n
  FROM cells WHERE n > 0 GROUP BY rate, slice, also, first, second, third, day
),
by_day AS (
  SELECT rate, slice, also, first, second, third, day, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(total)::BIGINT AS total,
         sum(sessions)::BIGINT AS sessions
  FROM cells GROUP BY ALL
),
{days: rate, slice, also, first, second, third},
{groups: rate, slice, also, first, second, third}
SELECT rate, slice, also, first, second, third, k, n, total, sessions, days, day_k, day_n, group_ids, group_k, group_n,
       calls, valid, not_json, unknown_tool, schema_errors, no_text, no_definition, unclear
FROM grouped JOIN counts USING (slice, also, first, second, third)
ORDER BY total DESC, slice, also, first, second, third
