-- What DuckDB alone makes of a night of Claude Code logs: the calls with their results, turns and sessions.
-- It checks nothing: a line that is no JSON vanishes, arguments are not judged, no attempt is linked to another,
-- and no row knows its line. ? = the files, as a glob.

CREATE TEMP TABLE lines AS
SELECT
    "sessionId" AS session_id, "agentId" AS agent_id, "isSidechain" AS is_sidechain, uuid, "timestamp" AS ts,
    "type" AS kind, version, "isMeta" AS is_meta, message, data, filename
FROM read_json(
    $files, format = 'newline_delimited', ignore_errors = true, filename = true,
    maximum_object_size = 67108864,
    columns = {
        'sessionId': 'VARCHAR', 'agentId': 'VARCHAR', 'isSidechain': 'BOOLEAN', 'uuid': 'VARCHAR',
        'timestamp': 'TIMESTAMP', 'type': 'VARCHAR', 'version': 'VARCHAR', 'isMeta': 'BOOLEAN',
        'message': 'STRUCT(id VARCHAR, model VARCHAR, stop_reason VARCHAR, content JSON,
            usage STRUCT(input_tokens BIGINT, output_tokens BIGINT, cache_creation_input_tokens BIGINT,
                cache_read_input_tokens BIGINT))',
        'data': 'STRUCT("type" VARCHAR, "agentId" VARCHAR, message STRUCT("type" VARCHAR, uuid VARCHAR,
            message STRUCT(id VARCHAR, model VARCHAR, stop_reason VARCHAR, content JSON)))'
    }
)
WHERE kind IN ('user', 'assistant') OR data."type" = 'agent_progress';

CREATE TEMP TABLE blocks AS
SELECT
    session_id || coalesce('/agent-' || coalesce(agent_id, data."agentId"), '') AS session_id,
    ts, coalesce(message.id, data.message.message.id) AS message_id,
    coalesce(message.model, data.message.message.model) AS model,
    unnest(from_json(
        coalesce(message.content, data.message.message.content),
        '[{"type":"VARCHAR","id":"VARCHAR","name":"VARCHAR","input":"JSON","tool_use_id":"VARCHAR",
           "content":"JSON","is_error":"BOOLEAN"}]'
    )) AS block
FROM lines
WHERE json_type(coalesce(message.content, data.message.message.content)) = 'ARRAY';

CREATE TABLE tool_calls AS
WITH
    calls AS (
        SELECT DISTINCT ON (block.id) session_id, ts, ts::DATE AS day, message_id, model, block.id AS call_id,
               block.name AS tool, block.input::VARCHAR AS arguments
        FROM blocks WHERE block."type" = 'tool_use'
    ),
    results AS (
        SELECT DISTINCT ON (block.tool_use_id) block.tool_use_id AS call_id, block.is_error,
               CASE json_type(block.content)
                   WHEN 'VARCHAR' THEN block.content ->> '$'
                   ELSE array_to_string(block.content ->> '$[*].text', chr(10))
               END AS content
        FROM blocks WHERE block."type" = 'tool_result'
    )
SELECT calls.*, results.is_error, results.content[:2000] AS result_text, strlen(results.content) AS result_bytes
FROM calls LEFT JOIN results USING (call_id);

CREATE TABLE turns AS
SELECT session_id, uuid, ts, (message.content ->> '$')[:2000] AS user_text
FROM lines
WHERE kind = 'user' AND is_meta IS NOT true AND json_type(message.content) = 'VARCHAR';

CREATE TABLE sessions AS
SELECT
    session_id, min(ts) AS started_at, max(ts) AS ended_at, any_value(version) AS version,
    count(DISTINCT message.id) AS steps, any_value(filename) AS file
FROM lines GROUP BY session_id;

CREATE TABLE daily_calls AS
SELECT day, model, tool, count(*) AS calls, count(*) FILTER (is_error) AS errors
FROM tool_calls GROUP BY ALL;

CHECKPOINT;
