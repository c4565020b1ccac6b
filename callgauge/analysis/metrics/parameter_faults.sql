-- title: Faults by parameter
-- question: In how many calls of a tool is each parameter wrong, how is it wrong, and in which slices?
-- unit: calls that the parser could judge; a call counts once in each row
-- column parameter: path of the parameter in the definition; `filters[].name` for an item of a list; empty = the arguments as a whole; NULL = all parameters together
-- column fault: text, type, missing, value, undeclared or name; NULL = any fault
-- column sent: for a type fault, the type of the value that was sent; NULL = any type
-- column slice: the value of $by; 'unknown' if the log does not name the value
-- column failed: calls with an error at the parameter; in the other calls the parser repaired the fault
-- column judged: calls of the slice that the parser could judge
-- column checked: judged calls that were also checked against a definition
-- column group_ids: ids of the random session groups with judged calls, in order; each other list holds a count for each of these groups
-- column example: id of the newest such call
-- note: The parser can judge a call if its text is in the log or its tool definition is known. A fault in type, value or name counts only if a definition is known.
-- note: The row without parameter and fault is the total: the number of calls with any fault, and of judged calls.
-- $by: model, provider, prompt, definition, source, day; the default is model. $parameter: only this parameter.
WITH
named AS NOT MATERIALIZED (
  SELECT
    call_id, file_id, coalesce(ts, day, TIMESTAMP '0001-01-01') AS moment, schema_seen = 'full' AS is_checked,
    (('0x' || left(md5(coalesce(source, '') || chr(0) || coalesce(session_id, '')), 8))::UINTEGER % 50)::UTINYINT AS id,
    coalesce(CASE coalesce($by, 'model')
      WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'definition' THEN definition_id
      WHEN 'source' THEN source WHEN 'day' THEN day::VARCHAR END, 'unknown') AS slice
  FROM tool_calls
  WHERE {filters: days, models, providers, prompts, tools, mcp_servers, sources, trials}
    AND NOT coalesce(duplicate, false) AND (syntax_seen = 'full' OR schema_seen = 'full')
),
judged_calls AS MATERIALIZED (FROM named),
findings AS (
  SELECT
    call_id, moment, id, slice, severity = 'error' AS is_error, is_checked,
    regexp_replace(regexp_replace(coalesce(path, '$'), '\[\d+\]', '[]', 'g'), '^\$\.?', '') AS parameter,
    CASE
      WHEN stage IN ('unwrap', 'repair') OR code = 'arguments_must_be_object' THEN 'text'
      WHEN code IN ('missing_required', 'null_not_allowed') THEN 'missing'
      WHEN code = 'unknown_parameter' THEN 'undeclared'
      WHEN code = 'parameter_name_normalised' THEN 'name'
      WHEN stage = 'coerce' AND code NOT LIKE 'timestamp_%' AND code NOT IN ('enum_case_normalised', 'unsupported_timestamp_literal') THEN 'type'
      ELSE 'value' END AS fault,
    CASE
      WHEN code LIKE 'string_literal_converted_to_%' THEN 'text'
      WHEN code = 'optional_null_dropped' THEN 'null'
      WHEN code IN ('number_coerced_to_boolean', 'number_coerced_to_integer', 'fractional_number_truncated_to_integer',
                    'epoch_converted_to_timestamp') THEN 'number'
      WHEN left(found, 1) IN ('"', '''') THEN 'text'
      WHEN left(found, 1) = '{' THEN 'object'
      WHEN left(found, 1) = '[' THEN 'list'
      WHEN lower(found) IN ('true', 'false') THEN 'boolean'
      WHEN lower(found) IN ('null', 'none') THEN 'null'
      WHEN regexp_matches(found, '^[-+.]?\d') THEN 'number' END AS sent
  FROM diagnostics JOIN judged_calls USING (call_id, file_id)
  WHERE code NOT IN ('tool_definition_missing', 'unknown_tool', 'default_applied', 'default_not_applied',
                     'pattern_not_checked', 'schema_keyword_unsupported')
),
counted AS (
  SELECT * EXCLUDE (sent), if(fault = 'type', sent, NULL) AS sent
  FROM findings WHERE (fault = 'text' OR is_checked) AND ($parameter IS NULL OR parameter = $parameter)
),
-- One row a call and parameter first: a call may have several findings there.
of_calls AS (
  SELECT parameter, fault, sent, slice, id, call_id, max(moment) AS moment, bool_or(is_error) AS is_error,
         concat_ws(',', grouping(parameter), grouping(fault), grouping(sent)) AS level
  FROM counted
  GROUP BY GROUPING SETS (
    (slice, id, call_id), (fault, slice, id, call_id), (parameter, slice, id, call_id),
    (parameter, fault, slice, id, call_id), (parameter, fault, sent, slice, id, call_id)
  )
  HAVING grouping(sent) = 1 OR sent IS NOT NULL
),
cells AS (
  SELECT row_number() OVER ()::UINTEGER AS cell, *
  FROM (
    SELECT level, parameter, fault, sent, slice,
           count(*)::BIGINT AS calls, count(*) FILTER (is_error)::BIGINT AS failed, arg_max(call_id, (moment, call_id)) AS example
    FROM of_calls GROUP BY ALL
  )
),
of_groups AS (
  SELECT cell, id, count(*)::UINTEGER AS calls
  FROM of_calls o JOIN cells c
    ON o.level = c.level AND o.slice = c.slice AND o.parameter IS NOT DISTINCT FROM c.parameter
    AND o.fault IS NOT DISTINCT FROM c.fault AND o.sent IS NOT DISTINCT FROM c.sent
  GROUP BY cell, id
),
judged_groups AS (
  SELECT slice, id, count(*)::UINTEGER AS judged, count(*) FILTER (is_checked)::UINTEGER AS checked
  FROM judged_calls GROUP BY ALL
),
judged AS (
  SELECT slice, sum(judged)::BIGINT AS judged, sum(checked)::BIGINT AS checked, list(id ORDER BY id) AS group_ids,
         list(judged ORDER BY id) AS group_judged, list(checked ORDER BY id) AS group_checked
  FROM judged_groups GROUP BY slice
),
lists AS (
  SELECT cell, list(coalesce(calls, 0)::UINTEGER ORDER BY j.id) AS group_calls
  FROM (SELECT cell, slice FROM cells) JOIN judged_groups j USING (slice) LEFT JOIN of_groups g USING (cell, id)
  GROUP BY cell
),
listed AS (
  FROM cells JOIN lists USING (cell)
  UNION ALL BY NAME
  SELECT '1,1,1' AS level, slice, 0 AS calls, 0 AS failed, list_transform(group_ids, lambda id: 0::UINTEGER) AS group_calls
  FROM judged ANTI JOIN (FROM cells WHERE level = '1,1,1') USING (slice)
)
SELECT parameter, fault, sent, slice, calls, failed, judged, checked,
       group_ids, group_calls, group_judged, group_checked, example
FROM listed JOIN judged USING (slice)
ORDER BY level DESC, calls DESC, parameter, fault, sent, slice
LIMIT coalesce($limit, 20000)
