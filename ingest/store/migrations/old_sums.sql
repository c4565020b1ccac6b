-- Daily sums of days whose facts are gone keep what they have. What they lack of this version is made of the nearest that they have.
-- Other days are summed up from their facts afterwards. Run after every migration: what is complete stays.

UPDATE daily_calls SET mended = coerced + repaired, parse_errors = fault_syntax + fault_schema, schema_errors = fault_schema
WHERE parse_errors IS NULL;
UPDATE daily_turns SET success_known = recorded_known, succeeded = recorded_ok WHERE success_known IS NULL;

-- Turn success is what the log reported. Until version 9 a parse error covered what the log told of both stages.
INSERT INTO daily_rates BY NAME
SELECT * REPLACE (
    if(rate = 'recorded_ok', 'turn_success', 'defined') AS rate,
    if(rate = 'recorded_ok', k, n) AS k, if(rate = 'recorded_ok', group_k, group_n) AS group_k
)
FROM daily_rates
WHERE rate IN ('recorded_ok', 'parse_error') AND day < (SELECT max(facts_before) FROM store_info)
    AND NOT EXISTS (FROM daily_rates WHERE rate IN ('turn_success', 'defined'));

UPDATE daily_calls SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_codes SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_definitions SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_rates SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_chains SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_errors SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_parameters SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
UPDATE daily_traits SET mcp_server = find_mcp_server(tool) WHERE mcp_server IS NULL AND starts_with(tool, 'mcp__');
