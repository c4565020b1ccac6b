-- Every rate, with what its interval needs: k of n observed, of `total` in all, in how many sessions n was observed, and
-- the sums over these sessions of k², k·n and n² (dashboard.statistics.intervals). They add up over days and over
-- everything else here, but for `cut`: 'all' holds each session once, 'tool' once for each tool it called, and each turn,
-- too. A session that goes on over midnight, or changes its model, counts as one on each side.

DELETE FROM daily_rates USING touched_days t WHERE daily_rates.day IS NOT DISTINCT FROM t.day;

INSERT INTO daily_rates BY NAME
WITH
    told AS (SELECT session_id, harness_version FROM sessions WHERE NOT duplicate),
    calls_of_days AS (
        SELECT
            c.*, t.harness_version,
            coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none')
                OR fault_layer IN ('syntax', 'schema'), false) AS judged,
            coalesce(syntax_seen = 'full' OR schema_seen = 'full', false) AS read,
            coalesce(result_status IN ('ok', 'error'), false) AS answered
        FROM tool_calls c LEFT JOIN told t USING (session_id)
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM c.day)
    ),
    turns_of_days AS (
        SELECT u.*, t.harness_version
        FROM turns u LEFT JOIN told t USING (session_id)
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
    of_sessions AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id,
            if(grouping(tool) = 1, 'all', 'tool') AS cut,
            [
                {
                    'rate': 'parse_error', 'total': count(*), 'n': count(*) FILTER (judged),
                    'k': count(*) FILTER (fault_layer IN ('syntax', 'schema'))
                },
                {
                    'rate': 'syntax_error', 'total': count(*),
                    'n': count(*) FILTER (syntax_seen <> 'none' OR fault_layer = 'syntax'),
                    'k': count(*) FILTER (fault_layer = 'syntax')
                },
                {
                    'rate': 'schema_error', 'total': count(*),
                    'n': count(*) FILTER (schema_seen <> 'none' OR fault_layer = 'schema'),
                    'k': count(*) FILTER (fault_layer = 'schema')
                },
                {
                    'rate': 'strict_failure', 'total': count(*), 'n': count(*) FILTER (read),
                    'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired', 'failed'))
                },
                {
                    'rate': 'salvaged', 'total': count(*) FILTER (outcome IN ('coerced', 'repaired', 'failed')),
                    'n': count(*) FILTER (read AND outcome IN ('coerced', 'repaired', 'failed')),
                    'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired'))
                },
                {
                    'rate': 'mended', 'total': count(*), 'n': count(*) FILTER (read),
                    'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired'))
                },
                {
                    'rate': 'coerced', 'total': count(*), 'n': count(*) FILTER (read),
                    'k': count(*) FILTER (read AND outcome = 'coerced')
                },
                {
                    'rate': 'repaired', 'total': count(*), 'n': count(*) FILTER (read),
                    'k': count(*) FILTER (read AND outcome = 'repaired')
                },
                {
                    'rate': 'unknown_tool', 'total': count(*), 'n': count(*) FILTER (tools_offered),
                    'k': count(*) FILTER (tools_offered AND regexp_matches(parse_error, '(^|; )unknown_tool\b'))
                },
                {
                    'rate': 'emission', 'total': count(*), 'n': count(*),
                    'k': count(*) FILTER (fault_layer = 'emission')
                },
                {
                    'rate': 'truncated', 'total': count(*), 'n': count(*) FILTER (args_source = 'raw'),
                    'k': count(*) FILTER (
                        args_source = 'raw'
                        AND regexp_matches(
                            concat_ws('; ', parse_error, parse_warning),
                            '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))'
                        )
                    )
                },
                {
                    'rate': 'tool_rejected', 'total': count(*),
                    'n': count(*) FILTER (answered OR fault_layer = 'tool_rejected'),
                    'k': count(*) FILTER (fault_layer = 'tool_rejected')
                },
                {
                    'rate': 'execution', 'total': count(*), 'n': count(*) FILTER (answered),
                    'k': count(*) FILTER (answered AND fault_layer = 'execution')
                },
                {
                    'rate': 'refused', 'total': count(*),
                    'n': count(*) FILTER (answered OR fault_layer = 'refused'),
                    'k': count(*) FILTER (fault_layer = 'refused')
                },
                {
                    'rate': 'recovered', 'total': count(*) FILTER (attempt = 1),
                    'n': count(*) FILTER (attempt = 1 AND chain_outcome IS NOT NULL),
                    'k': count(*) FILTER (attempt = 1 AND chain_outcome = 'recovered')
                }
            ] AS rates
        FROM calls_of_days
        GROUP BY GROUPING SETS (
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id),
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id, tool, definition_id)
        )
        UNION ALL BY NAME
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            [
                {
                    'rate': 'retried', 'total': count(*), 'n': count(*) FILTER (calls > 0),
                    'k': count(*) FILTER (retries > 0)
                },
                {
                    'rate': 'recorded_ok', 'total': count(*), 'n': count(recorded_ok),
                    'k': count(*) FILTER (recorded_ok)
                },
                {
                    'rate': 'derived_ok', 'total': count(*), 'n': count(derived_ok),
                    'k': count(*) FILTER (derived_ok)
                },
                {
                    'rate': 'disagree', 'total': count(*),
                    'n': count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL),
                    'k': count(*) FILTER (recorded_ok <> derived_ok)
                }
            ] AS rates
        FROM turns_and_tools
        GROUP BY day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut, session_id
    ),
    apart AS (
        SELECT * EXCLUDE (rates, rate), rate.rate AS rate, rate.k AS k, rate.n AS n, rate.total AS total
        FROM (SELECT *, unnest(rates) AS rate FROM of_sessions)
        WHERE rate.total > 0
    )
SELECT
    day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut, rate,
    sum(k) AS k, sum(n) AS n, sum(total) AS total, count(*) FILTER (n > 0) AS sessions,
    sum(k * k) AS kk, sum(k * n) AS kn, sum(n * n) AS nn
FROM apart
GROUP BY ALL
ORDER BY rate, cut, day;
