-- What DuckDB alone makes of traces: the calls with their results, turns and sessions. It checks nothing: a line
-- that is no JSON vanishes, arguments are not judged, no attempt is linked to another, and no row knows its line.
-- $files = the files, as a glob.

CREATE TEMP TABLE spans AS
WITH requests AS (
    SELECT filename, unnest("resourceSpans") AS resource_spans
    FROM read_json(
        $files, format = 'newline_delimited', ignore_errors = true, filename = true,
        maximum_object_size = 67108864,
        columns = {
            'resourceSpans': 'STRUCT("scopeSpans" STRUCT(spans STRUCT("traceId" VARCHAR, "spanId" VARCHAR,
                "parentSpanId" VARCHAR, "name" VARCHAR, "startTimeUnixNano" UBIGINT, "endTimeUnixNano" UBIGINT,
                attributes STRUCT("key" VARCHAR, "value" STRUCT("stringValue" VARCHAR, "intValue" BIGINT))[])[])[])[]'
        }
    )
),
scopes AS (SELECT filename, unnest(resource_spans."scopeSpans") AS scope FROM requests),
flat AS (SELECT filename, unnest(scope.spans) AS span FROM scopes)
SELECT
    filename, span."traceId" AS trace_id, span."spanId" AS span_id,
    make_timestamp_ns(span."startTimeUnixNano"::BIGINT)::TIMESTAMP AS ts,
    make_timestamp_ns(span."endTimeUnixNano"::BIGINT)::TIMESTAMP AS ended_at,
    map_from_entries(list_transform(span.attributes, lambda a: {'k': a."key", 'v': a."value"."stringValue"})) AS texts
FROM flat;

CREATE TABLE tool_calls AS
WITH
    calls AS (
        SELECT
            coalesce(texts['gen_ai.conversation.id'], trace_id) AS session_id, ts, ts::DATE AS day,
            texts['gen_ai.request.model'] AS model, span_id,
            unnest(from_json(
                texts['gen_ai.output.messages'],
                '[{"parts":[{"type":"VARCHAR","id":"VARCHAR","name":"VARCHAR","arguments":"JSON"}]}]'
            )[1].parts) AS part
        FROM spans WHERE texts['gen_ai.operation.name'] = 'chat'
    ),
    results AS (
        SELECT DISTINCT ON (call_id) texts['gen_ai.tool.call.id'] AS call_id,
               texts['gen_ai.tool.call.result'] AS content
        FROM spans WHERE texts['gen_ai.operation.name'] = 'execute_tool'
    )
SELECT session_id, ts, day, model, span_id, part.id AS call_id, part.name AS tool,
       part.arguments::VARCHAR AS arguments, results.content[:2000] AS result_text,
       strlen(results.content) AS result_bytes
FROM calls LEFT JOIN results ON results.call_id = part.id
WHERE part."type" = 'tool_call';

CREATE TABLE turns AS
SELECT trace_id AS session_id, min(ts) AS ts,
       any_value(from_json(
           texts['gen_ai.input.messages'], '[{"parts":[{"content":"VARCHAR"}]}]'
       )[1].parts[1].content)[:2000] AS user_text
FROM spans WHERE texts['gen_ai.operation.name'] = 'chat' GROUP BY ALL;

CREATE TABLE sessions AS
SELECT trace_id AS session_id, min(ts) AS started_at, max(ended_at) AS ended_at, any_value(filename) AS file
FROM spans GROUP BY trace_id;

CREATE TABLE daily_calls AS
SELECT day, model, tool, count(*) AS calls FROM tool_calls GROUP BY ALL;

CHECKPOINT;
