-- Every rate, with what its interval needs: k of n observed, of `total` in all, in how many sessions n was observed, and
-- the sums over these sessions of k², k·n and n² (dashboard.statistics.intervals). They add up over days and over
-- everything else here, but for `cut`: 'all' holds each session once, 'tool' once for each tool it called, and each turn,
-- too. A session that goes on over midnight, or changes its model, counts as one on each side.

DELETE FROM daily_rates USING touched_days t WHERE daily_rates.day IS NOT DISTINCT FROM t.day;

-- Of the k, n and total of one rate in each session.
CREATE OR REPLACE TEMP MACRO added_up(name, seen) AS {
    'rate': name, 'k': sum(seen.k), 'n': sum(seen.n), 'total': sum(seen.total), 'sessions': count(*) FILTER (seen.n > 0),
    'kk': sum(seen.k * seen.k), 'kn': sum(seen.k * seen.n), 'nn': sum(seen.n * seen.n)
};

INSERT INTO daily_rates BY NAME
WITH
    told AS (SELECT source, session_id, harness_version FROM sessions WHERE NOT duplicate),
    calls_of_days AS (
        SELECT
            c.*, t.harness_version,
            coalesce(syntax_seen = 'full' OR (syntax_seen <> 'none' AND schema_seen <> 'none')
                OR fault_layer IN ('syntax', 'schema'), false) AS judged,
            coalesce(syntax_seen = 'full' OR schema_seen = 'full', false) AS read,
            coalesce(result_status IN ('ok', 'error'), false) AS answered
        FROM tool_calls c LEFT JOIN told t USING (source, session_id)
        WHERE NOT duplicate AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM c.day)
    ),
    turns_of_days AS (
        SELECT u.*, t.harness_version
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
    of_sessions AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id,
            if(grouping(tool) = 1, 'all', 'tool') AS cut,
            {
                'total': count(*), 'n': count(*) FILTER (judged),
                'k': count(*) FILTER (fault_layer IN ('syntax', 'schema'))
            } AS parse_error,
            {
                'total': count(*),
                'n': count(*) FILTER (syntax_seen <> 'none' OR fault_layer = 'syntax'),
                'k': count(*) FILTER (fault_layer = 'syntax')
            } AS syntax_error,
            {
                'total': count(*),
                'n': count(*) FILTER (schema_seen <> 'none' OR fault_layer = 'schema'),
                'k': count(*) FILTER (fault_layer = 'schema')
            } AS schema_error,
            {
                'total': count(*), 'n': count(*) FILTER (read),
                'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired', 'failed'))
            } AS strict_failure,
            {
                'total': count(*) FILTER (outcome IN ('coerced', 'repaired', 'failed')),
                'n': count(*) FILTER (read AND outcome IN ('coerced', 'repaired', 'failed')),
                'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired'))
            } AS salvaged,
            {
                'total': count(*), 'n': count(*) FILTER (read),
                'k': count(*) FILTER (read AND outcome IN ('coerced', 'repaired'))
            } AS mended,
            {'total': count(*), 'n': count(*) FILTER (read), 'k': count(*) FILTER (read AND outcome = 'coerced')} AS coerced,
            {
                'total': count(*), 'n': count(*) FILTER (read),
                'k': count(*) FILTER (read AND outcome = 'repaired')
            } AS repaired,
            {
                'total': count(*), 'n': count(*) FILTER (tools_offered),
                'k': count(*) FILTER (tools_offered AND regexp_matches(parse_error, '(^|; )unknown_tool\b'))
            } AS unknown_tool,
            {'total': count(*), 'n': count(*), 'k': count(*) FILTER (fault_layer = 'emission')} AS emission,
            {
                'total': count(*), 'n': count(*) FILTER (args_source = 'raw'),
                'k': count(*) FILTER (
                    args_source = 'raw'
                    AND regexp_matches(
                        concat_ws('; ', parse_error, parse_warning),
                        '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))'
                    )
                )
            } AS truncated,
            {
                'total': count(*),
                'n': count(*) FILTER (answered OR fault_layer = 'tool_rejected'),
                'k': count(*) FILTER (fault_layer = 'tool_rejected')
            } AS tool_rejected,
            {
                'total': count(*), 'n': count(*) FILTER (answered),
                'k': count(*) FILTER (answered AND fault_layer = 'execution')
            } AS execution,
            {
                'total': count(*),
                'n': count(*) FILTER (answered OR fault_layer = 'refused'),
                'k': count(*) FILTER (fault_layer = 'refused')
            } AS refused,
            {
                'total': count(*) FILTER (attempt = 1),
                'n': count(*) FILTER (attempt = 1 AND chain_outcome IS NOT NULL),
                'k': count(*) FILTER (attempt = 1 AND chain_outcome = 'recovered')
            } AS recovered
        FROM calls_of_days
        GROUP BY GROUPING SETS (
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id),
            (day, source, provider, model, prompt_id, harness_version, strategy, session_id, tool, definition_id)
        )
        UNION ALL BY NAME
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            {'total': count(*), 'n': count(*) FILTER (calls > 0), 'k': count(*) FILTER (retries > 0)} AS retried,
            {'total': count(*), 'n': count(recorded_ok), 'k': count(*) FILTER (recorded_ok)} AS recorded_ok,
            {'total': count(*), 'n': count(derived_ok), 'k': count(*) FILTER (derived_ok)} AS derived_ok,
            {
                'total': count(*),
                'n': count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL),
                'k': count(*) FILTER (recorded_ok <> derived_ok)
            } AS disagree
        FROM turns_and_tools
        GROUP BY day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut, session_id
    ),
    -- Added up before the rates are set apart: there are many sessions, and few of everything else.
    apart AS (
        SELECT
            day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut,
            unnest([
                added_up('parse_error', parse_error), added_up('syntax_error', syntax_error),
                added_up('schema_error', schema_error), added_up('strict_failure', strict_failure),
                added_up('salvaged', salvaged), added_up('mended', mended), added_up('coerced', coerced),
                added_up('repaired', repaired), added_up('unknown_tool', unknown_tool), added_up('emission', emission),
                added_up('truncated', truncated), added_up('tool_rejected', tool_rejected),
                added_up('execution', execution), added_up('refused', refused), added_up('recovered', recovered),
                added_up('retried', retried), added_up('recorded_ok', recorded_ok), added_up('derived_ok', derived_ok),
                added_up('disagree', disagree)
            ], recursive := true)
        FROM of_sessions
        GROUP BY day, source, provider, model, prompt_id, harness_version, strategy, tool, definition_id, cut
    )
FROM apart WHERE total > 0
ORDER BY rate, cut, day;
