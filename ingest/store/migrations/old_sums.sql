-- Fills new columns and rates in the daily sums of days whose rows were deleted, from the nearest old columns. Other days are
-- recomputed from their rows afterwards. Runs after every migration; columns that are already filled stay.

UPDATE daily_calls SET mended = coerced + repaired, parse_errors = fault_syntax + fault_schema, schema_errors = fault_schema
WHERE parse_errors IS NULL;
UPDATE daily_turns SET success_known = recorded_known, succeeded = recorded_ok WHERE success_known IS NULL;

-- `turn_success` is taken from recorded_ok. `defined` is taken from parse_error: until version 9, that rate covered both the
-- syntax and the schema stage, so k = n.
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
