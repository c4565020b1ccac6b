-- Every rate, with what its interval needs: k of n observed, of `total` in all, in how many sessions n was observed, and
-- the sums over these sessions of k², k·n and n² (callgauge.stats.intervals). They add up over days and over
-- everything else here, but for `cut`: 'all' holds each session once, 'tool' once for each tool it called, and each turn,
-- too. A session that goes on over midnight, or changes its model, counts as one on each side.

DELETE FROM daily_rates USING touched_days t WHERE daily_rates.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_rates BY NAME
WITH
    told AS (SELECT source, session_id, harness_version FROM sessions WHERE NOT duplicate),
    calls_of_days AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, session_id,
            fault_layer, outcome, attempt, chain_outcome, tools_offered,
            coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none')
                OR fault_layer IN ('syntax', 'schema'), false) AS judged,
            coalesce(syntax_seen = 'full' OR schema_seen = 'full', false) AS read,
            syntax_seen <> 'none' OR fault_layer = 'syntax' AS syntax_known,
            schema_seen <> 'none' OR fault_layer = 'schema' AS schema_known,
            coalesce(result_status IN ('ok', 'error'), false) AS answered,
            outcome IN ('coerced', 'repaired', 'failed') AS flawed,
            args_source = 'raw' AS is_raw,
            regexp_matches(parse_error, '(^|; )unknown_tool\b') AS unknown_tool,
            regexp_matches(
                concat_ws('; ', parse_error, parse_warning),
                '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))'
            ) AS truncated
        FROM tool_calls c LEFT JOIN told t USING (source, session_id)
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM c.day)
    ),
    turns_of_days AS (
        SELECT
            turn_id, day, source, provider, model, prompt_id, harness_version, session_id,
            calls, retries, recorded_ok, derived_ok
        FROM turns u LEFT JOIN told t USING (source, session_id)
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM u.day)
    ),
    -- Once for all that a turn did, and once for each tool that it called.
    turns_and_tools AS (
        SELECT *, 'all' AS cut, NULL AS strategy, NULL AS tool, NULL AS definition_id FROM turns_of_days
        UNION ALL BY NAME
        SELECT u.*, 'tool' AS cut, called.strategy, called.tool, called.definition_id
        FROM turns_of_days u
        JOIN (
            SELECT DISTINCT turn_id, strategy, tool, definition_id FROM tool_calls
            SEMI JOIN turns_of_days USING (turn_id) WHERE NOT duplicate
        ) called USING (turn_id)
    ),
    calls_of_sessions AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id,
            if(grouping(tool) = 1, 'all', 'tool') AS cut,
            count(*) AS calls,
            count(*) FILTER (judged) AS judged,
            count(*) FILTER (read) AS read,
            count(*) FILTER (answered) AS answered,
            count(*) FILTER (fault_layer = 'syntax') AS syntax,
            count(*) FILTER (syntax_known) AS syntax_known,
            count(*) FILTER (fault_layer = 'schema') AS schema,
            count(*) FILTER (schema_known) AS schema_known,
            count(*) FILTER (flawed) AS flawed,
            count(*) FILTER (read AND flawed) AS read_flawed,
            count(*) FILTER (read AND outcome = 'coerced') AS coerced,
            count(*) FILTER (read AND outcome = 'repaired') AS repaired,
            count(*) FILTER (tools_offered) AS offered,
            count(*) FILTER (tools_offered AND unknown_tool) AS unknown_tool,
            count(*) FILTER (fault_layer = 'emission') AS emission,
            count(*) FILTER (is_raw) AS is_raw,
            count(*) FILTER (is_raw AND truncated) AS truncated,
            count(*) FILTER (answered OR fault_layer = 'tool_rejected') AS tool_known,
            count(*) FILTER (fault_layer = 'tool_rejected') AS tool_rejected,
            count(*) FILTER (answered AND fault_layer = 'execution') AS execution,
            count(*) FILTER (answered OR fault_layer = 'refused') AS refused_known,
            count(*) FILTER (fault_layer = 'refused') AS refused,
            count(*) FILTER (attempt = 1) AS chains,
            count(*) FILTER (attempt = 1 AND chain_outcome IS NOT NULL) AS ended,
            count(*) FILTER (attempt = 1 AND chain_outcome = 'recovered') AS recovered
        FROM calls_of_days
        GROUP BY GROUPING SETS (
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id),
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id, tool, definition_id)
        )
    ),
    turns_of_sessions AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            count(*) AS turns,
            count(*) FILTER (calls > 0) AS calling,
            count(*) FILTER (retries > 0) AS retried,
            count(recorded_ok) AS recorded_known,
            count(*) FILTER (recorded_ok) AS recorded_ok,
            count(derived_ok) AS derived_known,
            count(*) FILTER (derived_ok) AS derived_ok,
            count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL) AS both_known,
            count(*) FILTER (recorded_ok <> derived_ok) AS disagree
        FROM turns_and_tools
        GROUP BY day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut, session_id
    ),
    apart AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            unnest([
                {'rate': 'parse_error', 'total': calls, 'n': judged, 'k': syntax + schema},
                {'rate': 'syntax_error', 'total': calls, 'n': syntax_known, 'k': syntax},
                {'rate': 'schema_error', 'total': calls, 'n': schema_known, 'k': schema},
                {'rate': 'strict_failure', 'total': calls, 'n': read, 'k': read_flawed},
                {'rate': 'salvaged', 'total': flawed, 'n': read_flawed, 'k': coerced + repaired},
                {'rate': 'mended', 'total': calls, 'n': read, 'k': coerced + repaired},
                {'rate': 'coerced', 'total': calls, 'n': read, 'k': coerced},
                {'rate': 'repaired', 'total': calls, 'n': read, 'k': repaired},
                {'rate': 'unknown_tool', 'total': calls, 'n': offered, 'k': unknown_tool},
                {'rate': 'emission', 'total': calls, 'n': calls, 'k': emission},
                {'rate': 'truncated', 'total': calls, 'n': is_raw, 'k': truncated},
                {'rate': 'tool_rejected', 'total': calls, 'n': tool_known, 'k': tool_rejected},
                {'rate': 'execution', 'total': calls, 'n': answered, 'k': execution},
                {'rate': 'refused', 'total': calls, 'n': refused_known, 'k': refused},
                {'rate': 'recovered', 'total': chains, 'n': ended, 'k': recovered}
            ], recursive := true)
        FROM calls_of_sessions
        UNION ALL
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            unnest([
                {'rate': 'retried', 'total': turns, 'n': calling, 'k': retried},
                {'rate': 'recorded_ok', 'total': turns, 'n': recorded_known, 'k': recorded_ok},
                {'rate': 'derived_ok', 'total': turns, 'n': derived_known, 'k': derived_ok},
                {'rate': 'disagree', 'total': turns, 'n': both_known, 'k': disagree}
            ], recursive := true)
        FROM turns_of_sessions
    )
SELECT
    day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut, rate,
    sum(k) AS k, sum(n) AS n, sum(total) AS total, count(*) FILTER (n > 0) AS sessions,
    sum(k * k) AS kk, sum(k * n) AS kn, sum(n * n) AS nn
FROM apart
WHERE total > 0
GROUP BY ALL
ORDER BY rate, cut, day;
