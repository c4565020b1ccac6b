-- All rates: k of n measured observations, the `total` with observations that were not measured, and k and n of each group of
-- sessions (ingest/store/session_group.sql). Rows can be added over all dimensions except `cut`.
-- - group_ids: sorted groups that have observations; group_k, group_n: k and n of each of them
-- - cut: 'all' has each turn once, 'tool' once for each tool that it called
-- - sessions: number of sessions with an observation. A session on two days, or with two models, counts for each, and in
--   the cut 'tool' for each tool.

WITH
    versions AS (SELECT is_before, source, session_id, harness_version FROM counted_sessions WHERE NOT duplicate),
    observed_calls AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id,
            session_id, session_group AS id,
            fault_layer, outcome, attempt, chain_outcome, tools_offered,
            coalesce(syntax_seen = 'full', false) AS text_known,
            coalesce(syntax_seen <> 'none' OR fault_layer = 'syntax', false) AS syntax_known,
            -- Schema errors that only the log reports are not measured, because the log does not show which other calls were
            -- valid.
            coalesce(schema_seen = 'full', false) AS schema_known,
            coalesce(result_status IN ('ok', 'error'), false) AS answered,
            outcome IN ('coerced', 'repaired', 'failed') AS flawed,
            args_source = 'raw' AS is_raw,
            regexp_matches(parse_error, '(^|; )unknown_tool\b') AS unknown_tool,
            regexp_matches(
                concat_ws('; ', parse_error, parse_warning),
                '(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))'
            ) AS truncated
        FROM calls_of_days LEFT JOIN versions USING (is_before, source, session_id)
    ),
    observed_turns AS (
        SELECT
            turn_id, is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, session_id,
            session_group AS id, calls, retries, recorded_ok, derived_ok, coalesce(recorded_ok, derived_ok) AS succeeded
        FROM turns_of_days LEFT JOIN versions USING (is_before, source, session_id)
    ),
    -- One row per turn, and one row per turn and called tool.
    turns_and_tools AS (
        SELECT *, 'all' AS cut, NULL AS strategy, NULL AS tool, NULL AS mcp_server, NULL AS definition_id FROM observed_turns
        UNION ALL BY NAME
        SELECT u.*, 'tool' AS cut, called_tools.strategy, called_tools.tool, called_tools.mcp_server, called_tools.definition_id
        FROM observed_turns u
        JOIN (
            SELECT DISTINCT is_before, turn_id, strategy, tool, mcp_server, definition_id FROM counted_calls
            SEMI JOIN observed_turns USING (is_before, turn_id) WHERE NOT duplicate
        ) called_tools USING (is_before, turn_id)
    ),
    calls_of_sessions AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id,
            if(grouping(tool) = 1, 'all', 'tool') AS cut,
            id,
            count(*) AS calls,
            count(*) FILTER (text_known) AS text_known,
            count(*) FILTER (text_known AND schema_known) AS read,
            count(*) FILTER (answered) AS answered,
            count(*) FILTER (fault_layer = 'syntax') AS syntax,
            count(*) FILTER (syntax_known) AS syntax_known,
            count(*) FILTER (schema_known AND fault_layer = 'schema') AS schema,
            count(*) FILTER (schema_known) AS schema_known,
            count(*) FILTER (fault_layer = 'syntax' OR (syntax_known AND schema_known AND fault_layer = 'schema')) AS parse_error,
            count(*) FILTER (text_known OR schema_known) AS parsed,
            count(*) FILTER (syntax_known AND schema_known) AS defined,
            count(*) FILTER (flawed) AS flawed,
            count(*) FILTER (text_known AND schema_known AND flawed) AS read_flawed,
            count(*) FILTER (text_known AND schema_known AND outcome IN ('coerced', 'repaired')) AS mended,
            count(*) FILTER (schema_known AND outcome = 'coerced') AS coerced,
            count(*) FILTER (text_known AND outcome = 'repaired') AS repaired,
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
        FROM observed_calls
        GROUP BY GROUPING SETS (
            (is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, id, session_id),
            (is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, id, session_id, tool,
             mcp_server, definition_id)
        )
    ),
    turns_of_sessions AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut,
            id,
            count(*) AS turns,
            count(*) FILTER (calls > 0) AS calling,
            count(*) FILTER (retries > 0) AS retried,
            count(recorded_ok) AS recorded_known,
            count(*) FILTER (recorded_ok) AS recorded_ok,
            count(derived_ok) AS derived_known,
            count(*) FILTER (derived_ok) AS derived_ok,
            count(succeeded) AS either_known,
            count(*) FILTER (succeeded) AS succeeded,
            count(*) FILTER (recorded_ok IS NOT NULL AND derived_ok IS NOT NULL) AS both_known,
            count(*) FILTER (recorded_ok <> derived_ok) AS disagree
        FROM turns_and_tools
        GROUP BY is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server,
            definition_id, cut, id, session_id
    ),
    -- `…_sessions`: number of sessions with such a call or turn.
    calls_of_groups AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut, id,
            sum(COLUMNS(* EXCLUDE (
                is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server,
                definition_id, cut, id
            )))::UINTEGER,
            count_if(COLUMNS([
                'syntax_known', 'schema_known', 'text_known', 'parsed', 'read', 'read_flawed', 'offered', 'calls', 'is_raw', 'tool_known',
                'answered', 'refused_known', 'ended'
            ]) > 0)::UINTEGER AS '\0_sessions'
        FROM calls_of_sessions
        GROUP BY ALL
    ),
    turns_of_groups AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut, id,
            sum(COLUMNS(* EXCLUDE (
                is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server,
                definition_id, cut, id
            )))::UINTEGER,
            count_if(COLUMNS(['calling', 'recorded_known', 'derived_known', 'either_known', 'both_known']) > 0)::UINTEGER
                AS '\0_sessions'
        FROM turns_of_sessions
        GROUP BY ALL
    ),
    -- The groups of a cell as a list, sorted by id, which is the first field of each group.
    calls_of_cells AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut,
            list_sort(list(struct_pack(*COLUMNS(* EXCLUDE (
                is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut
            ))))) AS groups
        FROM calls_of_groups
        GROUP BY ALL
    ),
    turns_of_cells AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut,
            list_sort(list(struct_pack(*COLUMNS(* EXCLUDE (
                is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut
            ))))) AS groups
        FROM turns_of_groups
        GROUP BY ALL
    ),
    rates_of_cells AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut,
            unnest([
                {'rate': 'parse_error', 'groups': [
                    row(g.id, g.calls, g.syntax_known, g.syntax_known_sessions, g.parse_error) for g in groups]},
                {'rate': 'syntax_error', 'groups': [
                    row(g.id, g.calls, g.syntax_known, g.syntax_known_sessions, g.syntax) for g in groups]},
                {'rate': 'schema_error', 'groups': [
                    row(g.id, g.calls, g.schema_known, g.schema_known_sessions, g.schema) for g in groups]},
                {'rate': 'defined', 'groups': [
                    row(g.id, g.calls, g.parsed, g.parsed_sessions, g.defined) for g in groups]},
                {'rate': 'strict_failure', 'groups': [
                    row(g.id, g.calls, g.read, g.read_sessions, g.read_flawed) for g in groups]},
                {'rate': 'salvaged', 'groups': [
                    row(g.id, g.flawed, g.read_flawed, g.read_flawed_sessions, g.mended) for g in groups]},
                {'rate': 'mended', 'groups': [
                    row(g.id, g.calls, g.read, g.read_sessions, g.mended) for g in groups]},
                {'rate': 'coerced', 'groups': [
                    row(g.id, g.calls, g.schema_known, g.schema_known_sessions, g.coerced) for g in groups]},
                {'rate': 'repaired', 'groups': [
                    row(g.id, g.calls, g.text_known, g.text_known_sessions, g.repaired) for g in groups]},
                {'rate': 'unknown_tool', 'groups': [
                    row(g.id, g.calls, g.offered, g.offered_sessions, g.unknown_tool) for g in groups]},
                {'rate': 'emission', 'groups': [
                    row(g.id, g.calls, g.calls, g.calls_sessions, g.emission) for g in groups]},
                {'rate': 'truncated', 'groups': [
                    row(g.id, g.calls, g.is_raw, g.is_raw_sessions, g.truncated) for g in groups]},
                {'rate': 'tool_rejected', 'groups': [
                    row(g.id, g.calls, g.tool_known, g.tool_known_sessions, g.tool_rejected) for g in groups]},
                {'rate': 'execution', 'groups': [
                    row(g.id, g.calls, g.answered, g.answered_sessions, g.execution) for g in groups]},
                {'rate': 'refused', 'groups': [
                    row(g.id, g.calls, g.refused_known, g.refused_known_sessions, g.refused) for g in groups]},
                {'rate': 'recovered', 'groups': [
                    row(g.id, g.chains, g.ended, g.ended_sessions, g.recovered) for g in groups]}
            ], recursive := true)
        FROM calls_of_cells
        UNION ALL
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, harness_version, strategy, tool, mcp_server, definition_id, cut,
            unnest([
                {'rate': 'retried', 'groups': [
                    row(g.id, g.turns, g.calling, g.calling_sessions, g.retried) for g in groups]},
                {'rate': 'turn_success', 'groups': [
                    row(g.id, g.turns, g.either_known, g.either_known_sessions, g.succeeded) for g in groups]},
                {'rate': 'recorded_ok', 'groups': [
                    row(g.id, g.turns, g.recorded_known, g.recorded_known_sessions, g.recorded_ok) for g in groups]},
                {'rate': 'derived_ok', 'groups': [
                    row(g.id, g.turns, g.derived_known, g.derived_known_sessions, g.derived_ok) for g in groups]},
                {'rate': 'disagree', 'groups': [
                    row(g.id, g.turns, g.both_known, g.both_known_sessions, g.disagree) for g in groups]}
            ], recursive := true)
        FROM turns_of_cells
    ),
    named_rates AS (
        SELECT
            * REPLACE (
                groups::STRUCT(id UTINYINT, total UINTEGER, n UINTEGER, sessions UINTEGER, k UINTEGER)[] AS groups
            )
        FROM rates_of_cells
    )
SELECT
    * EXCLUDE (groups),
    list_sum([g.k for g in groups])::BIGINT AS k,
    list_sum([g.n for g in groups])::BIGINT AS n,
    list_sum([g.total for g in groups])::BIGINT AS total,
    list_sum([g.sessions for g in groups])::BIGINT AS sessions,
    [g.id for g in groups if g.n > 0] AS group_ids,
    [g.k for g in groups if g.n > 0] AS group_k,
    [g.n for g in groups if g.n > 0] AS group_n
FROM named_rates
WHERE list_sum([g.total for g in groups]) > 0
