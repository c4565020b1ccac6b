-- The tables of one generation. Fact tables have no primary keys, because these double the time of a load;
-- ingest.store.generation_file keeps rows unique. Every fact has its file, 1-based line and byte offset. Times are UTC.
-- Long texts are compressed by zstd: half the size of DuckDB's own choice, in two thirds of the time.

-- - facts_before: calls, turns and sessions that ended before this day were deleted. Daily sums of earlier days are never
--   recomputed.
-- - text_before: the content of sessions that ended before this day was deleted. NULL = `callgauge retain` deleted nothing.
CREATE TABLE store_info (
    schema_version INTEGER, parser_version VARCHAR, created_at TIMESTAMP, facts_before DATE, text_before DATE
);

-- - files_rejected: number of log files that could not be read
-- - sessions_replaced: number of sessions that the load read again, because their file had changed
-- - sessions_removed: sessions removed by --replace
-- - calls_fewer: number of calls that the load removed from the store
CREATE TABLE ingest_runs (
    run_id INTEGER, started_at TIMESTAMP, finished_at TIMESTAMP, callgauge_version VARCHAR, parser_version VARCHAR,
    files_loaded INTEGER, files_unchanged INTEGER, files_rejected INTEGER,
    bytes BIGINT, lines BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    sessions_replaced BIGINT, sessions_removed BIGINT, calls_fewer BIGINT
);

-- One row per loaded content of a file.
-- - path: path as shown; a member of an archive is `archive!member`
-- - status: loaded, earlier (the file now has other content, and sessions of this content stay), companion (read together with
--   another file) or rejected
-- - reason: why a file was rejected, or with which file it is read
-- - size_bytes: size of the unpacked content; stored_bytes: size as stored
-- - mtime_ns, version (an ETag, a checksum), stored_bytes: state of the file when it was read
-- - fingerprint: SHA-256 of the content; head: SHA-256 of its first 64 KB
-- - archive: the file's archive; archive_seen: state of the archive
-- - privacy: what was left out: "redacted:<rules and key>" and "without_results"; NULL = nothing
-- - tools_hash: definitions given with --tools when the file was read
-- - cut_at: --max-line, if it cut a line
-- - forgetful: `callgauge forget` deleted sessions of this file, so no line of it is quoted
-- - follows: file_id of the file's previous content
-- - lacks: names of missing files that belong to this log (JSON)
-- - foreign_kind: kind of a file that is not a log: json, broken, text, binary or empty; NULL = the file may be a log
-- - path_facts: properties of the sessions from the file's path or an option, as JSON {"model": ["gpt-4o", "path"], "prompt": …,
--   "run": …, "date": …}; "path" or "given" names the origin. "mapping": the paths of fields in chat transcripts (--map)
CREATE TABLE files (
    file_id INTEGER, run_id INTEGER, path VARCHAR, source VARCHAR, status VARCHAR, reason VARCHAR,
    size_bytes BIGINT, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR, fingerprint VARCHAR, head VARCHAR, lines BIGINT, read_bytes BIGINT,
    sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    tools_hash VARCHAR, cut_at BIGINT, privacy VARCHAR, forgetful BOOLEAN, follows INTEGER, lacks VARCHAR,
    foreign_kind VARCHAR, refused_by VARCHAR, path_facts VARCHAR
);

-- The files of a log that consists of several files, one row per file. Joined, these files are the content of the log `file_id`.
-- Each file begins at `line` and `byte_offset` of the joined content.
CREATE TABLE file_members (file_id INTEGER, line BIGINT, byte_offset BIGINT, path VARCHAR);

-- Other files with the same content as a loaded file. Loads do not read these files.
CREATE TABLE copies (
    path VARCHAR, file_id INTEGER, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR
);

-- Sessions that `callgauge forget` deleted, as hashes of source and session ID. Loads skip these sessions.
CREATE TABLE forgotten (session_hash VARCHAR, forgotten_at TIMESTAMP);

CREATE TABLE rejects (
    file_id INTEGER, line BIGINT, byte_offset BIGINT, code VARCHAR, reason VARCHAR, snippet VARCHAR
);

-- What each log format can record, one row per format.
CREATE TABLE sources (
    source VARCHAR, title VARCHAR,
    raw_arguments VARCHAR, argument_failures VARCHAR, error_flag VARCHAR, definitions VARCHAR,
    system_prompt VARCHAR, model VARCHAR, turn_end VARCHAR, cannot_tell VARCHAR
);

-- Database files with older rows of sessions, turns, tool_calls, diagnostics and step_texts (segments). A published segment
-- never changes: a load that removes rows writes a new file. Queries see the rows of all segments as one table
-- (ingest/store/segments.py).
-- - first_day, last_day: first and last day of its rows; first_day is NULL if a row has no day
-- - has_deleted: the file may still contain deleted rows in unused bytes
-- - model_names: all models in the file
-- - month: first day of the month whose daily sums and task_trials are in the file, with monthly sums in tables `monthly_…`;
--   NULL = it contains single calls
-- - ids_by: the DuckDB version whose hash() made the table `ids` of call_ids and turn_ids
CREATE TABLE segments (
    number INTEGER, name VARCHAR, size_bytes BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT,
    first_day DATE, last_day DATE, has_deleted BOOLEAN, model_names VARCHAR[], month DATE, ids_by VARCHAR
);

-- One row per session and file.
-- - duplicate: another row of the same session counts instead
-- - run: experiment of the session, named by the log or the file's path; `arm`: its variant; repeat_no: number of the
--   repeat of the task
-- - capabilities: what is known about the model (JSON); sampling: sampling settings (JSON)
-- - project: repository of the session (owner/name), else the folder's name; branch: checked-out branch at the start
-- - sub_agent: kind of sub-agent, or skill, of the session; environment: where the agent was deployed
-- - trial_run: trial run named by the log; NULL = not part of one. Turns, calls, probes and daily sums have
--   the same column. Pages leave out trials unless a run or a variant is selected.
-- - text_removed: `callgauge retain` deleted the content of the session; NULL = it did not
CREATE TABLE sessions (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, source VARCHAR,
    harness VARCHAR, harness_version VARCHAR, parent_session_id VARCHAR,
    user_name VARCHAR, task VARCHAR, run VARCHAR, trial_run VARCHAR, arm VARCHAR, repeat_no VARCHAR,
    capabilities VARCHAR, sampling VARCHAR, project VARCHAR, branch VARCHAR, sub_agent VARCHAR, environment VARCHAR,
    started_at TIMESTAMP, ended_at TIMESTAMP, day DATE,
    turns BIGINT, steps BIGINT, calls BIGINT, faults BIGINT, duplicate_calls BIGINT,
    duplicate BOOLEAN, text_removed BOOLEAN
);

-- - text, text_hash: the first text of this prompt; prompt_texts has all texts of a prompt
CREATE TABLE prompts (prompt_id VARCHAR, name VARCHAR, version VARCHAR, text VARCHAR, text_hash VARCHAR, label VARCHAR);
CREATE TABLE prompt_texts (prompt_id VARCHAR, text_hash VARCHAR, text VARCHAR USING COMPRESSION zstd);

-- - origin: log, or the file with the definition
-- - definition: the definition as canonical JSON
CREATE TABLE tool_definitions (
    definition_id VARCHAR, tool VARCHAR, description VARCHAR, definition VARCHAR, origin VARCHAR
);

-- Lists of tools that models were offered, one row per list and tool. The column turns.tool_list names the list of a turn.
-- - bytes: size of the tool's definition in the list
CREATE TABLE tool_lists (tool_list VARCHAR, tool VARCHAR, mcp_server VARCHAR, bytes BIGINT);

-- Columns recorded_* come from the log, columns derived_* from Callgauge's rules. NULL = not measured.
-- - derived_reason: ended_with_answer, no_answer, chain_abandoned, call_lost, ended_badly or not_ended
-- - stop_reason: why the last reply ended, as the log spells it
-- - verdict_reason: why a check of the task passed or failed, or the check's name; NULL = no check
-- - compensations: messages that a gateway sent after unreadable replies; resent: requests repeated because of network errors
-- - cost: USD, from the log
-- - prompt_hash: hash of the prompt's text, see prompt_texts
-- - counted_*: number of steps with tokens in the log, and their tokens; counted_input excludes cached tokens
-- - results_expected: the session's log has results of calls, so a call without a result was lost
-- - begun: the turn begins in this file; else another file has its beginning
-- - first_step: lowest step number in the log
-- - model_name: the model's name as found; model_source: log, path (of the file) or given (with --model); `model`: the model
--   that this name counts as, see model_aliases
CREATE TABLE turns (
    turn_id VARCHAR, session_id VARCHAR, turn INTEGER, file_id INTEGER, line BIGINT, byte_offset BIGINT,
    ts TIMESTAMP, ended_at TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, model_name VARCHAR, model_source VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR,
    trial_run VARCHAR, arm VARCHAR,
    user_text VARCHAR USING COMPRESSION zstd, answer_text VARCHAR USING COMPRESSION zstd,
    steps INTEGER, calls INTEGER, faults INTEGER, retries INTEGER,
    recorded_status VARCHAR, recorded_ok BOOLEAN, derived_ok BOOLEAN, derived_reason VARCHAR,
    stop_reason VARCHAR, verdict_reason VARCHAR, compensations INTEGER, resent INTEGER, cost DOUBLE,
    input_tokens BIGINT, output_tokens BIGINT, latency_ms DOUBLE, model_latency_ms DOUBLE,
    counted_steps INTEGER, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT,
    results_expected BOOLEAN, begun BOOLEAN, first_step INTEGER, offered_tools INTEGER, tool_list VARCHAR,
    duplicate BOOLEAN, text_removed BOOLEAN
);

-- One row per call.
-- - duplicate: a copy of a call that another row already counts (repeated transcripts)
-- - call_id, turn_id: ID in the log; else 16 digits from the position and 8 from the content (docs/internal/architecture.md)
-- - mcp_server: MCP server of the tool, from the log or the tool's name (mcp__server__tool); NULL = unknown. Daily sums
--   have the same column.
-- - syntax_seen, schema_seen: how far such errors were checked (full, failures or none); the denominators of the rates
--   (docs/internal/architecture.md)
-- - outcome: clean, coerced, repaired, failed or unmeasured; worst_severity: note, warning, error or NULL
-- - fault_layer: emission, syntax, schema, tool_rejected, execution, `refused` or NULL
-- - error_flag_source: explicit (flag in the log), derived_text, derived_exit_code, envelope (the result reports a failure),
--   envelope_against_ok (the result reports a failure, although the log says ok) or absent
-- - latency_ms: time of the tool; model_latency_ms: time of the model for the step. In the table turns, latency_ms is the time
--   of the whole turn and model_latency_ms the sum over its steps.
-- - input_tokens, output_tokens: tokens of the whole step, so sum them over turns, not over calls
-- - cached_tokens, cache_write_tokens: the parts of input_tokens that were read from and written to a provider's cache
-- - simulated: no tool ran, because a trial supplied the result (recorded, default or miss); NULL = the tool ran
-- - chain_id: call_id of the first call of the retry sequence; attempt: from 1; retry_kind: identical, changed or NULL
-- - chain_outcome: recovered, `abandoned` (given up) or NULL (no retry sequence, or the turn may continue)
-- - arguments: decoded arguments as JSON; NULL if they could not be read
-- - as_sent: the arguments equal raw_arguments; own_arguments: the arguments if they differ from raw_arguments
-- - text_removed: `callgauge retain` deleted the content of the call; raw_bytes, raw_chars: length of deleted raw_arguments
-- - tool_sent: the model's tool name, if it differs from `tool` (as all later columns, for `callgauge reparse`)
-- - refused_by_harness: the agent's message about the call
-- - result_fault_layer: failure stage named by the result; result_file_id: file of a late result, see late_results
-- - retry_of: the tool_call_id that the log names as retried
-- - syntax_told, schema_told: which syntax and schema errors the log shows: full, failures or none
-- - tools_offered: the log lists the offered tools; definition_origin: log, tools or NULL
CREATE TABLE tool_calls (
    call_id VARCHAR, session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    ts TIMESTAMP, day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, model_name VARCHAR, model_source VARCHAR,
    prompt_id VARCHAR, trial_run VARCHAR, arm VARCHAR,
    tool VARCHAR, tool_sent VARCHAR, mcp_server VARCHAR, tool_call_id VARCHAR, strategy VARCHAR,
    definition_id VARCHAR, definition_origin VARCHAR, tools_offered BOOLEAN,
    raw_arguments VARCHAR USING COMPRESSION zstd, args_source VARCHAR,
    own_arguments VARCHAR USING COMPRESSION zstd, as_sent BOOLEAN,
    arguments VARCHAR GENERATED ALWAYS AS (if(as_sent, raw_arguments, own_arguments)),
    arguments_depth INTEGER, rejected VARCHAR,
    outcome VARCHAR, syntax_seen VARCHAR, schema_seen VARCHAR,
    parse_error VARCHAR, parse_warning VARCHAR, worst_severity VARCHAR, lossy BOOLEAN,
    harness_verdict VARCHAR, harness_message VARCHAR, refused_by_harness VARCHAR,
    syntax_told VARCHAR, schema_told VARCHAR,
    fault_layer VARCHAR, signature_id VARCHAR, result_fault_layer VARCHAR, result_file_id INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR,
    result_text VARCHAR USING COMPRESSION zstd, result_bytes BIGINT, simulated VARCHAR,
    chain_id VARCHAR, attempt INTEGER, retry_of VARCHAR, retry_kind VARCHAR, chain_outcome VARCHAR,
    input_tokens BIGINT, cached_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT,
    latency_ms DOUBLE, model_latency_ms DOUBLE,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, parser_version VARCHAR, duplicate BOOLEAN,
    text_removed BOOLEAN, raw_bytes BIGINT, raw_chars BIGINT
);

-- Parts of turns that are in several files, one row per file. In `turns`, the row of the first part has the data of all parts,
-- and the rows of the other parts are marked as `duplicate`.
CREATE TABLE turn_parts AS FROM turns LIMIT 0;

-- Results of calls that are in another file, or far before the result in the same file.
-- - state: joined (added to the call), copy (the call already has a result) or waiting (the call is not loaded yet)
CREATE TABLE late_results (
    source VARCHAR, session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP,
    tool_call_id VARCHAR, tool VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR, result_fault_layer VARCHAR, harness_message VARCHAR,
    result_text VARCHAR, result_bytes BIGINT, latency_ms DOUBLE,
    state VARCHAR
);

-- Text that the model wrote in a step in addition to its calls, without the turn's answer. Step numbers count within a
-- file. If another file has a copy of a turn, the table also has copies of its texts.
CREATE TABLE step_texts (
    session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, source VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, model VARCHAR, model_name VARCHAR,
    text VARCHAR USING COMPRESSION zstd
);

-- State with which the next load continues to read a large log that grows, one row per file
-- (ingest.pipeline.reading.checkpoint).
-- - byte_offset, line: where to continue; prefix: fingerprint of the bytes before
-- - open_turns: turns whose rows are replaced when reading continues (JSON)
CREATE TABLE unfinished (
    file_id INTEGER, byte_offset BIGINT, line BIGINT, prefix VARCHAR, made_by VARCHAR, open_turns VARCHAR, state BLOB
);

-- - position: order of the diagnostics of one call, from 0
-- - span_start, span_end: characters of raw_arguments, half-open; NULL = all of it
CREATE TABLE diagnostics (
    call_id VARCHAR, file_id INTEGER, position INTEGER, code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN,
    path VARCHAR, span_start BIGINT, span_end BIGINT, found VARCHAR, became VARCHAR, detail VARCHAR
);

CREATE TABLE codes (code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN, summary VARCHAR, why VARCHAR);

-- - probe_id: equal in all sessions that share a probe; NULL = no other session has this probe
CREATE TABLE probes (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, model_name VARCHAR, trial_run VARCHAR, arm VARCHAR,
    ok BOOLEAN, error VARCHAR, probe_id VARCHAR
);

-- The plans of trial runs, from lock.json; one row per run and file.
-- - duplicate: another row counts instead
-- - tasks, repeats: planned numbers; reference: the variant to compare with
-- - smallest: smallest difference of interest, in the unit of the primary measure
-- - look_at: numbers of completed tasks at which interim analyses happen; boundaries: their boundaries in units of z
-- - task_order: task ids in the order of the run
-- - arms: variants with name, model, prompt, definitions, strategy, compensations and policy. `arms` and all later columns are
--   JSON from lock.json.
CREATE TABLE trial_runs (
    run VARCHAR, name VARCHAR, question VARCHAR, created_at TIMESTAMP,
    primary_measure VARCHAR, smallest DOUBLE, alpha DOUBLE, reference VARCHAR, looks INTEGER, expected_rate DOUBLE,
    secondary VARCHAR[], tasks BIGINT, repeats INTEGER, seed BIGINT, max_steps INTEGER,
    look_at BIGINT[], boundaries DOUBLE[], budget_cost DOUBLE, budget_tokens BIGINT, budget_minutes DOUBLE,
    arms VARCHAR, task_order VARCHAR, task_groups VARCHAR, definitions VARCHAR, prices VARCHAR, endpoints VARCHAR,
    versions VARCHAR, hashes VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

-- Result of each interim analysis that compares a variant with the reference.
-- - estimate, low, high: variant - reference; statistic, boundary: in units of z
-- - tasks: tasks of both variants; missing: trials of both without a reply
-- - decision: better, worse, alike, go on, not decided or withheld
CREATE TABLE trial_looks (
    run VARCHAR, look INTEGER, arm VARCHAR, tasks BIGINT, planned BIGINT,
    estimate DOUBLE, low DOUBLE, high DOUBLE, statistic DOUBLE, boundary DOUBLE,
    decision VARCHAR, missing BIGINT, taken_at TIMESTAMP,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

-- Model names that are replaced by another name, with the rule: naming.toml (of the store), callgauge.toml, or a kind of
-- built-in rule.
CREATE TABLE model_aliases (model_name VARCHAR, model VARCHAR, rule VARCHAR);

-- Daily sums do not count duplicates, and can be added. The table sessions describes trial_run and `arm`.
-- - parse_known, parse_errors: n and k of the rate parse_error; schema_full, schema_errors: of schema_error
-- - mended: k of the rate `mended`; mend_known: calls that our parser read (syntax_seen or schema_seen 'full')
-- - mended_refused: repaired calls whose arguments the agent had already rejected
-- - fault_unknown: no failure was seen, but the log lacks the result, or how the arguments were read
CREATE TABLE daily_calls (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR, strategy VARCHAR,
    calls BIGINT, parse_known BIGINT, mend_known BIGINT,
    syntax_full BIGINT, syntax_failures BIGINT, schema_full BIGINT, schema_failures BIGINT,
    clean BIGINT, coerced BIGINT, repaired BIGINT, failed BIGINT, unmeasured BIGINT, lossy BIGINT, mended_refused BIGINT,
    fault_emission BIGINT, fault_syntax BIGINT, fault_schema BIGINT,
    fault_tool_rejected BIGINT, fault_execution BIGINT, fault_refused BIGINT, fault_unknown BIGINT,
    result_ok BIGINT, result_error BIGINT, result_denied BIGINT, result_unknown BIGINT, result_missing BIGINT,
    retries BIGINT, retries_identical BIGINT, chains BIGINT, chains_recovered BIGINT, chains_abandoned BIGINT,
    mended BIGINT, parse_errors BIGINT, schema_errors BIGINT
);

-- - both_known: turns for which success is both in the log and derived; success_known, succeeded: n and k of the
--   rate turn_success
-- - us: microseconds
CREATE TABLE daily_turns (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR,
    turns BIGINT, retried BIGINT, recorded_known BIGINT, recorded_ok BIGINT, derived_known BIGINT, derived_ok BIGINT,
    both_known BIGINT, disagree BIGINT, steps BIGINT, calls BIGINT, retries BIGINT, input_tokens BIGINT, output_tokens BIGINT,
    tokens_known BIGINT, tokens BIGINT, ms_known BIGINT, us BIGINT,
    success_known BIGINT, succeeded BIGINT
);

-- Tokens by kind of price.
-- - whole: every step of the turn has tokens (see turns)
CREATE TABLE daily_tokens (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, session_group UTINYINT,
    whole BOOLEAN, recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, steps BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);

-- first_ts and last_ts are the first and last use on the day.
CREATE TABLE daily_prompts (
    day DATE, source VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR, trial_run VARCHAR, arm VARCHAR,
    turns BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

-- first_ts and last_ts are the first and last use on the day.
CREATE TABLE daily_definitions (
    day DATE, source VARCHAR, tool VARCHAR, mcp_server VARCHAR, definition_id VARCHAR, trial_run VARCHAR, arm VARCHAR,
    calls BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_codes (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR,
    code VARCHAR, calls BIGINT, findings BIGINT
);

-- Alerts: changes of rates that the newest load found (ingest/store/settling/alerts.py).
-- - alert_key: key in the team's decisions and notes
-- - dimension, name: what changed; second_dimension, second_name: set if a pair changed, such as model and tool
-- - since: first day; found: day of detection; back: first day on which the rate was back; closed: day on which that was
--   detected
-- - k_now, n_now: counts since the first day, while the alert lasts; low_now, high_now: 95 % interval of that rate
-- - k_before, n_before: counts on the baseline days
-- - difference, low, high: difference of the rates with its 95 % interval; q: corrected p-value on the day of detection
-- - part_of: key of the leading alert with which it shares calls
-- - where_kind: only (all affected calls have where_value) or most (most of them have)
CREATE TABLE alerts (
    alert_key VARCHAR, dimension VARCHAR, name VARCHAR, second_dimension VARCHAR, second_name VARCHAR, rate VARCHAR,
    since DATE, found DATE, back DATE, closed DATE, rose BOOLEAN,
    k_now BIGINT, n_now BIGINT, low_now DOUBLE, high_now DOUBLE, k_before BIGINT, n_before BIGINT,
    difference DOUBLE, low DOUBLE, high DOUBLE, q DOUBLE, first_before DATE, last_before DATE, part_of VARCHAR,
    where_dimension VARCHAR, where_value VARCHAR, where_kind VARCHAR
);

-- The newest nightly run, one row.
-- - series, tests: number of tested series and tests
-- - in_a_night, in_a_week: smallest change of a model's parse errors (as a share) that would probably be found after one day,
--   and within a week; NULL = none
-- - made_of: hash of the daily sums that were tested
CREATE TABLE alert_night (
    night DATE, series INTEGER, tests INTEGER, in_a_night DOUBLE, in_a_week DOUBLE, made_of VARCHAR
);

-- Errors grouped by the constant part of their text (ingest/store/signatures.sql). `text` is NULL if the content of all
-- calls with this error was deleted.
CREATE TABLE signatures (signature_id VARCHAR, fault_layer VARCHAR, text VARCHAR);

CREATE TABLE daily_rates (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, harness_version VARCHAR,
    strategy VARCHAR, tool VARCHAR, mcp_server VARCHAR, definition_id VARCHAR, cut VARCHAR, rate VARCHAR,
    k BIGINT, n BIGINT, total BIGINT, sessions BIGINT, group_ids UTINYINT[], group_k UINTEGER[], group_n UINTEGER[]
);

CREATE TABLE daily_chains (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR, fault_layer VARCHAR,
    ended VARCHAR, attempts INTEGER, session_group UTINYINT, chains BIGINT, retries BIGINT,
    identical BIGINT, first_identical BIGINT, first_identical_worked BIGINT,
    first_changed BIGINT, first_changed_worked BIGINT,
    steps BIGINT, tokens BIGINT, tokens_known BIGINT, us BIGINT, ms_known BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);

CREATE TABLE daily_parallel (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, session_group UTINYINT,
    steps BIGINT, calls BIGINT, lost BIGINT, bad_steps BIGINT, bad BIGINT, others BIGINT, others_lost BIGINT
);

CREATE TABLE daily_errors (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR,
    signature_id VARCHAR, calls BIGINT, sessions BIGINT, example_ts TIMESTAMP, example VARCHAR
);

CREATE TABLE daily_parameters (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR, definition_id VARCHAR,
    parameter VARCHAR, code VARCHAR, severity VARCHAR, calls BIGINT, example_ts TIMESTAMP, example VARCHAR,
    group_ids UTINYINT[], group_calls UINTEGER[]
);

CREATE TABLE daily_traits (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR,
    trait VARCHAR, class INTEGER, k BIGINT, n BIGINT, sessions BIGINT,
    group_ids UTINYINT[], group_k UINTEGER[], group_n UINTEGER[]
);

CREATE TABLE task_trials (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, session_id VARCHAR,
    task VARCHAR, task_origin VARCHAR, task_text VARCHAR,
    recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, calls BIGINT, parse_k BIGINT, parse_n BIGINT,
    mended_k BIGINT, mended_n BIGINT, misses BIGINT, tokens BIGINT, cost DOUBLE, repeat_no VARCHAR
);
