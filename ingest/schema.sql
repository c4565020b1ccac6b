-- The tables of one generation. Facts carry no primary keys (they halve the load); ingest.store keeps them unique.
-- Every fact knows its file, 1-based line and byte offset. Times are UTC. Long texts are packed by zstd: half the size of
-- what DuckDB chooses for them, in two thirds of the time.

CREATE TABLE store_info (schema_version INTEGER, parser_version VARCHAR, created_at TIMESTAMP);

CREATE TABLE ingest_runs (
    run_id INTEGER, started_at TIMESTAMP, finished_at TIMESTAMP, callgauge_version VARCHAR, parser_version VARCHAR,
    files_loaded INTEGER, files_unchanged INTEGER, files_rejected INTEGER,
    bytes BIGINT, lines BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT
);

-- tools_hash: the definitions given with --tools when the file was read; cut_at: --max-line where it cut a line.
-- The ledger: which bytes of which files are in. `status`: loaded | rejected. `reason`: why a file was rejected.
CREATE TABLE files (
    file_id INTEGER, run_id INTEGER, path VARCHAR, source VARCHAR, status VARCHAR, reason VARCHAR,
    size_bytes BIGINT, mtime_ns BIGINT, fingerprint VARCHAR, lines BIGINT, read_bytes BIGINT,
    sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    tools_hash VARCHAR, cut_at BIGINT
);

CREATE TABLE rejects (
    file_id INTEGER, line BIGINT, byte_offset BIGINT, code VARCHAR, reason VARCHAR, snippet VARCHAR
);

-- What each source (format) can tell, as its module declares it; one row a source.
CREATE TABLE sources (
    source VARCHAR, title VARCHAR,
    raw_arguments VARCHAR, argument_failures VARCHAR, error_flag VARCHAR, definitions VARCHAR,
    system_prompt VARCHAR, model VARCHAR, turn_end VARCHAR, cannot_tell VARCHAR
);

-- One row a session and file. `duplicate`: another row of the same session stands for it where sessions are counted.
CREATE TABLE sessions (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, source VARCHAR,
    harness VARCHAR, harness_version VARCHAR, parent_session_id VARCHAR,
    started_at TIMESTAMP, ended_at TIMESTAMP, day DATE,
    turns BIGINT, steps BIGINT, calls BIGINT, faults BIGINT, duplicate_calls BIGINT,
    duplicate BOOLEAN
);

CREATE TABLE prompts (prompt_id VARCHAR, name VARCHAR, version VARCHAR, text VARCHAR, text_hash VARCHAR, label VARCHAR);

-- `origin`: log | the file it was read from. `definition` is the canonical JSON of the definition.
CREATE TABLE tool_definitions (
    definition_id VARCHAR, tool VARCHAR, description VARCHAR, definition VARCHAR, origin VARCHAR
);

-- recorded_* = what the log says; derived_* = what we conclude. NULL = unmeasured.
-- derived_reason: ended_with_answer | no_answer | chain_abandoned | call_lost | ended_badly | not_ended
-- results_expected: the session shows results, so a call without one was lost. begun: the turn's beginning is in this
-- file, else the file goes on with a turn that another one began; first_step: the lowest step in it, NULL without steps.
CREATE TABLE turns (
    turn_id VARCHAR, session_id VARCHAR, turn INTEGER, file_id INTEGER, line BIGINT, byte_offset BIGINT,
    ts TIMESTAMP, ended_at TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    user_text VARCHAR USING COMPRESSION zstd, answer_text VARCHAR USING COMPRESSION zstd,
    steps INTEGER, calls INTEGER, faults INTEGER, retries INTEGER,
    recorded_status VARCHAR, recorded_ok BOOLEAN, derived_ok BOOLEAN, derived_reason VARCHAR,
    input_tokens BIGINT, output_tokens BIGINT, latency_ms DOUBLE, model_latency_ms DOUBLE,
    results_expected BOOLEAN, begun BOOLEAN, first_step INTEGER,
    duplicate BOOLEAN
);

-- One row a call. `duplicate`: a copy of a call that another row already counts (repeated transcripts).
-- syntax_seen / schema_seen: full | failures | none, the denominators of the rates (see docs/architecture.md).
-- outcome: clean | coerced | repaired | failed | unmeasured. worst_severity: note | warning | error | NULL.
-- fault_layer: emission | syntax | schema | tool_rejected | execution | refused | NULL.
-- latency_ms: the tool's time for a call, the whole time for a turn; model_latency_ms: the model's, of the step that
-- made the call, summed over a turn. Tokens are those of the whole step, too: add them up over turns, not over calls.
-- chain_id: the call_id of the chain's first call; attempt counts from 1; retry_kind: identical | changed | NULL.
-- chain_outcome: recovered | abandoned | NULL (in no chain, or the turn may still go on).
-- What it takes to judge a call again without its log: tool_sent = the name as the model sent it where `tool` is not
-- just that; refused_by_harness = the harness's word on the call itself, without what its result says;
-- result_fault_layer = the layer that the result's own texts name; retry_of = the tool_call_id that the log names as
-- tried again; syntax_told / schema_told = what the log itself shows of such faults (full | failures | none);
-- tools_offered = the log lists what the model was offered; definition_origin: log | tools | NULL.
CREATE TABLE tool_calls (
    call_id VARCHAR, session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    ts TIMESTAMP, day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    tool VARCHAR, tool_sent VARCHAR, tool_call_id VARCHAR, strategy VARCHAR,
    definition_id VARCHAR, definition_origin VARCHAR, tools_offered BOOLEAN,
    raw_arguments VARCHAR USING COMPRESSION zstd, args_source VARCHAR,
    arguments VARCHAR USING COMPRESSION zstd, rejected VARCHAR,
    outcome VARCHAR, syntax_seen VARCHAR, schema_seen VARCHAR,
    parse_error VARCHAR, parse_warning VARCHAR, worst_severity VARCHAR, lossy BOOLEAN,
    harness_verdict VARCHAR, harness_message VARCHAR, refused_by_harness VARCHAR,
    syntax_told VARCHAR, schema_told VARCHAR,
    fault_layer VARCHAR, result_fault_layer VARCHAR, result_status VARCHAR, error_flag_source VARCHAR,
    result_text VARCHAR USING COMPRESSION zstd, result_bytes BIGINT,
    chain_id VARCHAR, attempt INTEGER, retry_of VARCHAR, retry_kind VARCHAR, chain_outcome VARCHAR,
    input_tokens BIGINT, output_tokens BIGINT, latency_ms DOUBLE, model_latency_ms DOUBLE,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, parser_version VARCHAR, duplicate BOOLEAN
);

-- position: 0-based order of the findings of one call. span_*: characters of raw_arguments, half open; NULL = whole.
CREATE TABLE diagnostics (
    call_id VARCHAR, file_id INTEGER, position INTEGER, code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN,
    path VARCHAR, span_start BIGINT, span_end BIGINT, found VARCHAR, became VARCHAR, detail VARCHAR
);

CREATE TABLE codes (code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN, summary VARCHAR, why VARCHAR);

CREATE TABLE probes (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, ok BOOLEAN, error VARCHAR
);

-- Daily rollups: additive, without duplicates. The pages read these first.
-- parse_known: calls whose text we judged, or whose refusal the harness would have marked at both layers, or that were
-- refused; mend_known: calls with syntax_seen or schema_seen 'full'. They are the denominators of the parse_error and the mended rate.
-- mended_refused: mended calls whose arguments the harness had refused. fault_unknown: no fault was seen, but the log
-- keeps no result or not how the arguments were read. both_known: turns with a recorded and a derived verdict.
CREATE TABLE daily_calls (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR, strategy VARCHAR,
    calls BIGINT, parse_known BIGINT, mend_known BIGINT,
    syntax_full BIGINT, syntax_failures BIGINT, schema_full BIGINT, schema_failures BIGINT,
    clean BIGINT, coerced BIGINT, repaired BIGINT, failed BIGINT, unmeasured BIGINT, lossy BIGINT, mended_refused BIGINT,
    fault_emission BIGINT, fault_syntax BIGINT, fault_schema BIGINT,
    fault_tool_rejected BIGINT, fault_execution BIGINT, fault_refused BIGINT, fault_unknown BIGINT,
    result_ok BIGINT, result_error BIGINT, result_denied BIGINT, result_unknown BIGINT, result_missing BIGINT,
    retries BIGINT, retries_identical BIGINT, chains BIGINT, chains_recovered BIGINT, chains_abandoned BIGINT
);

CREATE TABLE daily_turns (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    turns BIGINT, retried BIGINT, recorded_known BIGINT, recorded_ok BIGINT, derived_known BIGINT, derived_ok BIGINT,
    both_known BIGINT, disagree BIGINT, steps BIGINT, calls BIGINT, retries BIGINT, input_tokens BIGINT, output_tokens BIGINT
);

CREATE TABLE daily_codes (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, tool VARCHAR,
    code VARCHAR, calls BIGINT, findings BIGINT
);
