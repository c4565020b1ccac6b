-- Parse errors by classes of properties of a call that may correlate with errors.
-- - class: number that orders the classes

WITH
    observed AS (
        SELECT
            c.is_before, c.day, c.source, c.provider, c.model, c.prompt_id, c.trial_run, c.arm, c.tool, c.mcp_server, c.session_id, c.session_group AS id,
            (c.fault_layer = 'syntax' OR (c.schema_seen = 'full' AND c.fault_layer = 'schema')) IS TRUE AS hit,
            c.raw_bytes AS bytes, c.raw_chars AS chars,
            c.arguments_depth, c.turn, u.offered_tools
        FROM calls_of_days c
        LEFT JOIN (FROM counted_turns WHERE NOT duplicate) u USING (is_before, turn_id)
        WHERE c.syntax_seen <> 'none' OR c.fault_layer = 'syntax'
    ),
    classed AS (
        SELECT
            * EXCLUDE (bytes, chars, arguments_depth, turn, offered_tools),
            unnest([
                -- Powers of two from 16 bytes to 64 kB. greatest() and least() ignore NULL, so NULL needs a condition.
                {'trait': 'length', 'class': CASE
                    WHEN bytes IS NOT NULL THEN greatest(4, least(16, floor(log2(greatest(bytes, 1)))))::INTEGER END},
                {'trait': 'depth', 'class': CASE WHEN arguments_depth IS NOT NULL THEN least(arguments_depth, 6) END},
                -- More bytes than characters: 0, up to 1 %, 10 %, 50 %, more. Chinese text has 200 %.
                {'trait': 'non_ascii', 'class': CASE
                    WHEN bytes IS NULL THEN NULL WHEN bytes = chars THEN 0 WHEN bytes <= 1.01 * chars THEN 1
                    WHEN bytes <= 1.1 * chars THEN 2 WHEN bytes <= 1.5 * chars THEN 3 ELSE 4 END},
                {'trait': 'turn', 'class': CASE
                    WHEN turn <= 3 THEN turn WHEN turn <= 5 THEN 4 WHEN turn <= 10 THEN 5
                    WHEN turn <= 20 THEN 6 WHEN turn > 20 THEN 7 END},
                {'trait': 'offered', 'class': CASE
                    WHEN offered_tools IS NULL THEN NULL WHEN offered_tools <= 1 THEN 0 WHEN offered_tools <= 5 THEN 1
                    WHEN offered_tools <= 10 THEN 2 WHEN offered_tools <= 20 THEN 3 WHEN offered_tools <= 50 THEN 4
                    ELSE 5 END}
            ], recursive := true)
        FROM observed
    ),
    of_sessions AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, trait, class, id,
            count(*) FILTER (hit) AS k, count(*) AS n
        FROM classed WHERE class IS NOT NULL
        GROUP BY is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, trait, class, id, session_id
    ),
    of_groups AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, trait, class, id,
            sum(k)::UINTEGER AS k, sum(n)::UINTEGER AS n, count(*) AS sessions
        FROM of_sessions
        GROUP BY ALL
    ),
    cells AS (
        SELECT
            is_before, day, source, provider, model, prompt_id, trial_run, arm, tool, mcp_server, trait, class,
            sum(k) AS k, sum(n) AS n, sum(sessions) AS sessions,
            list_sort(list({'id': id, 'k': k, 'n': n})) AS groups
        FROM of_groups
        GROUP BY ALL
    )
SELECT
    * EXCLUDE (groups),
    [g.id for g in groups] AS group_ids, [g.k for g in groups] AS group_k, [g.n for g in groups] AS group_n
FROM cells
