-- What DuckDB alone makes of session logs: the calls with their results, turns and sessions. It checks nothing: a
-- line that is no JSON vanishes, arguments are not judged, no attempt is linked to another, and no row knows its
-- line. $files = the files, as a glob.

CREATE TEMP TABLE lines AS
SELECT "sessionId" AS session_id, ts, turn, step, "type" AS kind, content, meta, filename
FROM read_json(
    $files, format = 'newline_delimited', ignore_errors = true, filename = true,
    maximum_object_size = 67108864,
    columns = {
        'ts': 'TIMESTAMP', 'sessionId': 'VARCHAR', 'turn': 'INTEGER', 'step': 'INTEGER', 'type': 'VARCHAR',
        'content': 'VARCHAR',
        'meta': 'STRUCT(model VARCHAR, provider VARCHAR, "status" VARCHAR, "durationMs" BIGINT, action_id VARCHAR,
            duration_ms DOUBLE, latency_ms DOUBLE, tokens STRUCT(prompt BIGINT, completion BIGINT),
            "toolBlocks" STRUCT(id VARCHAR, "name" VARCHAR, input JSON, raw VARCHAR)[])'
    }
);

CREATE TABLE tool_calls AS
WITH
    models AS (
        SELECT session_id, turn, step, any_value(meta.model) AS model, any_value(meta.tokens.completion) AS tokens
        FROM lines WHERE kind = 'assistant' GROUP BY ALL
    ),
    calls AS (
        SELECT session_id, turn, step, ts, ts::DATE AS day, unnest(meta."toolBlocks") AS block
        FROM lines WHERE kind = 'action'
    ),
    results AS (
        SELECT DISTINCT ON (session_id, meta.action_id) session_id, meta.action_id AS call_id,
               meta."status" AS "status", meta.duration_ms AS duration_ms, content
        FROM lines WHERE kind = 'observation'
    )
SELECT calls.session_id, calls.turn, calls.step, calls.ts, calls.day, models.model, models.tokens,
       block.id AS call_id, block."name" AS tool, coalesce(block.raw, block.input::VARCHAR) AS arguments,
       results."status", results.duration_ms, results.content[:2000] AS result_text,
       strlen(results.content) AS result_bytes
FROM calls
LEFT JOIN models USING (session_id, turn, step)
LEFT JOIN results ON results.session_id = calls.session_id AND results.call_id = block.id;

CREATE TABLE turns AS
SELECT started.session_id, started.turn, started.ts, started.content[:2000] AS user_text,
       ended.meta."status" AS "status", ended.meta."durationMs" AS duration_ms
FROM lines started
LEFT JOIN lines ended
    ON ended.session_id = started.session_id AND ended.turn = started.turn AND ended.kind = 'turn_end'
WHERE started.kind = 'turn_start';

CREATE TABLE sessions AS
SELECT session_id, min(ts) AS started_at, max(ts) AS ended_at, any_value(filename) AS file
FROM lines GROUP BY session_id;

CREATE TABLE daily_calls AS
SELECT day, model, tool, count(*) AS calls, count(*) FILTER ("status" <> 'success') AS errors
FROM tool_calls GROUP BY ALL;

CHECKPOINT;
