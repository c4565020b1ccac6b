-- The value of a dimension that a parameter names: `{value: by}` in a metric's SQL stands for this expression with `$by` in
-- the place of `$dimension`. 'all' without one, 'unknown' where the log names none,
-- 'none' for a tool of no MCP server.
coalesce(CASE coalesce($dimension, 'all')
    WHEN 'model' THEN model WHEN 'provider' THEN provider WHEN 'prompt' THEN prompt_id WHEN 'prompt_name' THEN prompt_name
    WHEN 'tool' THEN tool WHEN 'mcp_server' THEN coalesce(mcp_server, 'none') WHEN 'definition' THEN definition_id WHEN 'strategy' THEN strategy WHEN 'source' THEN source
    WHEN 'run' THEN trial_run WHEN 'arm' THEN arm WHEN 'harness_version' THEN harness_version WHEN 'day' THEN day::VARCHAR ELSE 'all' END, 'unknown')
