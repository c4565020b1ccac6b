-- From version 10. Calls and daily sums have the MCP server of the tool, and turns have the list of offered tools.

ALTER TABLE tool_calls ADD COLUMN mcp_server VARCHAR;
UPDATE tool_calls SET mcp_server = find_mcp_server(tool) WHERE starts_with(tool, 'mcp__');

ALTER TABLE daily_calls ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_codes ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_definitions ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_rates ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_chains ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_errors ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_parameters ADD COLUMN mcp_server VARCHAR;
ALTER TABLE daily_traits ADD COLUMN mcp_server VARCHAR;

ALTER TABLE turns ADD COLUMN tool_list VARCHAR;
ALTER TABLE turn_parts ADD COLUMN tool_list VARCHAR;

CREATE TABLE tool_lists (tool_list VARCHAR, tool VARCHAR, mcp_server VARCHAR, bytes BIGINT);

-- Only logs contain these values, so they are unknown until the files are loaded again.
ALTER TABLE sessions ADD COLUMN project VARCHAR;
ALTER TABLE sessions ADD COLUMN branch VARCHAR;
ALTER TABLE sessions ADD COLUMN sub_agent VARCHAR;
ALTER TABLE sessions ADD COLUMN environment VARCHAR;
