-- The tables of one generation. Facts carry no primary keys (they halve the load); ingest.store.generation_file keeps them unique.
-- Every fact knows its file, 1-based line and byte offset. Times are UTC. Long texts are packed by zstd: half the size of
-- what DuckDB chooses for them, in two thirds of the time.

-- facts_before: calls, turns and sessions that ended before this day are removed; the daily sums of earlier days are
-- never counted again. text_before: the same for texts. NULL = `callgauge retain` removed nothing.
CREATE TABLE store_info (
    schema_version INTEGER, parser_version VARCHAR, created_at TIMESTAMP, facts_before DATE, text_before DATE
);

-- files_rejected: without files that are not logs.
-- sessions_replaced: sessions that the load read again, in full or from some turn on, because the file had changed;
-- sessions_removed: by --replace; calls_fewer: calls that were in the store and are no longer.
CREATE TABLE ingest_runs (
    run_id INTEGER, started_at TIMESTAMP, finished_at TIMESTAMP, callgauge_version VARCHAR, parser_version VARCHAR,
    files_loaded INTEGER, files_unchanged INTEGER, files_rejected INTEGER,
    bytes BIGINT, lines BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    sessions_replaced BIGINT, sessions_removed BIGINT, calls_fewer BIGINT
);

-- path: as a person may see it; a member of an archive is `archive!member`. size_bytes: of the content, unpacked;
-- stored_bytes: as stored. mtime_ns, version (an ETag, a checksum), stored_bytes: how it looked when it was read.
-- fingerprint, head: SHA-256 of the content and of its first 64 KB. archive: the file it is a member of;
-- archive_seen: how that looked.
-- privacy: what was left out, "redacted:<rules and key>" and "without_results"; NULL = nothing.
-- tools_hash: the definitions given with --tools when the file was read; cut_at: --max-line where it cut a line;
-- forgetful: sessions of it are forgotten, so no line of it is quoted.
-- One row for each file with the bytes that are loaded. `status`: loaded | earlier (the file has other content by now, and the
-- sessions of this one stay: line and byte are places in what it was) | companion (read together with another file) |
-- rejected. `reason`: why a file was rejected, or which file it is read with. follows: the file_id of the content that
-- the file had before this one. lacks: names of files that would be read with it and were not next to it (JSON).
-- foreign_kind: json | broken | text | binary | empty: a rejected file is not a log of any known format, according
-- to the version in refused_by; NULL = it may be one. path_facts: what the file's path or an option says of its sessions where the
-- log says nothing, as JSON {"model": ["gpt-4o", "path"], "prompt": …, "run": …, "date": …}; path | given. "mapping": where the
-- fields of chat transcripts are (--map).
CREATE TABLE files (
    file_id INTEGER, run_id INTEGER, path VARCHAR, source VARCHAR, status VARCHAR, reason VARCHAR,
    size_bytes BIGINT, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR, fingerprint VARCHAR, head VARCHAR, lines BIGINT, read_bytes BIGINT,
    sessions BIGINT, turns BIGINT, calls BIGINT, rejects BIGINT,
    tools_hash VARCHAR, cut_at BIGINT, privacy VARCHAR, forgetful BOOLEAN, follows INTEGER, lacks VARCHAR,
    foreign_kind VARCHAR, refused_by VARCHAR, path_facts VARCHAR
);

-- The files of a session that is spread over files, one row each. The content of the log `file_id`
-- is that of these files; that of the file `path` begins there at `line` and `byte_offset`. A place of the log is in the
-- file that begins last before it.
CREATE TABLE file_members (file_id INTEGER, line BIGINT, byte_offset BIGINT, path VARCHAR);

-- Other names under which the content of a file was found, so that it need not be looked at again.
CREATE TABLE copies (
    path VARCHAR, file_id INTEGER, stored_bytes BIGINT, mtime_ns BIGINT, version VARCHAR,
    archive VARCHAR, archive_seen VARCHAR
);

-- What `callgauge forget` removed, so that no load brings it back: hashes of source and session id.
CREATE TABLE forgotten (session_hash VARCHAR, forgotten_at TIMESTAMP);

CREATE TABLE rejects (
    file_id INTEGER, line BIGINT, byte_offset BIGINT, code VARCHAR, reason VARCHAR, snippet VARCHAR
);

-- What each source (format) can tell, as its module declares it; one row a source.
CREATE TABLE sources (
    source VARCHAR, title VARCHAR,
    raw_arguments VARCHAR, argument_failures VARCHAR, error_flag VARCHAR, definitions VARCHAR,
    system_prompt VARCHAR, model VARCHAR, turn_end VARCHAR, cannot_tell VARCHAR
);

-- Files of facts next to this one that belong to the generation: sessions, turns, tool_calls, diagnostics and step_texts
-- of earlier loads. Such a file is never changed: a load that removes rows writes a new file under another name.
-- Readers see the rows of all files as one table (ingest/store/segments.py). first_day, last_day: of all its rows;
-- first_day is NULL where a row has no day.
-- has_deleted: deleted rows may still be in the bytes of the file. model_names: all models in it.
-- month: the first day of the month whose daily sums and task_trials the file contains in their place, with tables `monthly_…`,
-- the same sums added up over the month; NULL = it contains facts. ids_by: the version of DuckDB whose hash() made the file's
-- table `ids` of its call_ids and turn_ids.
CREATE TABLE segments (
    number INTEGER, name VARCHAR, size_bytes BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT,
    first_day DATE, last_day DATE, has_deleted BOOLEAN, model_names VARCHAR[], month DATE, ids_by VARCHAR
);

-- One row a session and file. `duplicate`: another row of the same session is counted instead.
-- run: the experiment of the session, where the log or the file's path names it; `arm`: the variant within it;
-- repeat_no: which of several tries at the task; capabilities, sampling: JSON, what was known of the model and what was
-- sent to it.
-- project: the repository that the session worked in, owner/name, else the name of the folder; branch: checked out when it
-- began; sub_agent: the kind of sub-agent, or the skill, that it is a run of; environment: where the agent was deployed.
-- trial_run: the trial run that the session's log names; NULL = not part of one. Turns, calls, probes and daily sums
-- copy it and the variant from their session. Pages leave them out unless a run or a variant is chosen.
-- text_removed: `callgauge retain` removed its texts and kept what was derived from them; NULL = it did not.
CREATE TABLE sessions (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, source VARCHAR,
    harness VARCHAR, harness_version VARCHAR, parent_session_id VARCHAR,
    user_name VARCHAR, task VARCHAR, run VARCHAR, trial_run VARCHAR, arm VARCHAR, repeat_no VARCHAR,
    capabilities VARCHAR, sampling VARCHAR, project VARCHAR, branch VARCHAR, sub_agent VARCHAR, environment VARCHAR,
    started_at TIMESTAMP, ended_at TIMESTAMP, day DATE,
    turns BIGINT, steps BIGINT, calls BIGINT, faults BIGINT, duplicate_calls BIGINT,
    duplicate BOOLEAN, text_removed BOOLEAN
);

-- text, text_hash: the first that was seen under the id; prompt_texts has every one, since a name may be given to another
-- text without a new version.
CREATE TABLE prompts (prompt_id VARCHAR, name VARCHAR, version VARCHAR, text VARCHAR, text_hash VARCHAR, label VARCHAR);
CREATE TABLE prompt_texts (prompt_id VARCHAR, text_hash VARCHAR, text VARCHAR USING COMPRESSION zstd);

-- `origin`: log | the file it was read from. `definition` is the canonical JSON of the definition.
CREATE TABLE tool_definitions (
    definition_id VARCHAR, tool VARCHAR, description VARCHAR, definition VARCHAR, origin VARCHAR
);

-- The lists of tools that models were offered, one row a list and tool; a turn names its list. bytes: of the definition in it.
CREATE TABLE tool_lists (tool_list VARCHAR, tool VARCHAR, mcp_server VARCHAR, bytes BIGINT);

-- recorded_* = what the log says; derived_* = what we conclude. NULL = unmeasured.
-- derived_reason: ended_with_answer | no_answer | chain_abandoned | call_lost | ended_badly | not_ended
-- stop_reason: why the last reply ended, in the log's word; verdict_reason: why a check of the task passed or failed, or
-- who checked it; NULL = nobody;
-- compensations: sentences that a gateway sent after unreadable replies; resent: requests sent again
-- for what was the network's; cost: USD, as the log has it.
-- prompt_hash: of the prompt's text in force, see prompt_texts.
-- counted_*: the steps whose input and output tokens the log tells, and their tokens in parts that do not overlap;
-- counted_input is what a provider's cache neither read nor wrote.
-- results_expected: the session shows results, so a call without one was lost. begun: the turn's beginning is in this
-- file, else the file goes on with a turn that another one began; first_step: the lowest number that the log itself
-- gives a step of it.
-- model_name: the model's name as model_source has it: log | path (of the file) | given (with --model); `model` is what
-- this name is counted as, see model_aliases.
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

-- One row a call. `duplicate`: a copy of a call that another row already counts (repeated transcripts).
-- call_id, turn_id: of the producer's own key; else 16 digits of the place and 8 of its content (docs/internal/architecture.md).
-- mcp_server: of the tool, from the log or the tool's name (mcp__server__tool); NULL = none is known. Daily sums copy it.
-- syntax_seen / schema_seen: full | failures | none, the denominators of the rates (see docs/internal/architecture.md).
-- outcome: clean | coerced | repaired | failed | unmeasured. worst_severity: note | warning | error | NULL.
-- fault_layer: emission | syntax | schema | tool_rejected | execution | `refused` | NULL.
-- error_flag_source: explicit (the log's own flag) | derived_text | derived_exit_code | envelope (the result itself reports
-- a failure) | envelope_against_ok (so it does, and the log says ok) | absent.
-- latency_ms: the tool's time for a call, the whole time for a turn; model_latency_ms: the model's, of the step that
-- made the call, summed over a turn. Tokens are those of the whole step, too: add them up over turns, not over calls.
-- cached_tokens and cache_write_tokens, read from and written to a provider's cache, are parts of input_tokens.
-- simulated: recorded | default | miss: no tool ran, the result was made for a trial; NULL = it ran, as far as is known.
-- chain_id: the call_id of the first call of its retry sequence; attempt counts from 1; retry_kind: identical | changed | NULL.
-- chain_outcome: recovered | `abandoned` (given up) | NULL (no retry sequence, or the turn may still go on).
-- What it takes to judge a call again without its log: tool_sent = the name as the model sent it where `tool` is not
-- just that; refused_by_harness = the harness's word on the call itself, without what its result says;
-- result_fault_layer = the layer that the result's own texts name; result_file_id = the file of a result that came late
-- (see late_results), else NULL; retry_of = the tool_call_id that the log names as
-- tried again; syntax_told / schema_told = what the log itself shows of such faults (full | failures | none);
-- tools_offered = the log lists what the model was offered; definition_origin: log | tools | NULL.
-- arguments: as they were read, JSON; NULL where nothing could be read. as_sent: they are the same text as raw_arguments,
-- which is kept once; own_arguments is set where they are not.
-- text_removed: as in sessions; raw_bytes, raw_chars: how long raw_arguments was that was removed.
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

-- Turns that are spread over several files, as each file reports them. In `turns` the first part contains the facts
-- of all, and the others are `duplicate`; their calls count in their own part.
CREATE TABLE turn_parts AS FROM turns LIMIT 0;

-- Results whose call was not open when they came: in another file, or long before in the same. state: joined | copy (the
-- call has a result of its own) | waiting (no call was found: it is listed in `rejects`, too, until the call is there).
CREATE TABLE late_results (
    source VARCHAR, session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP,
    tool_call_id VARCHAR, tool VARCHAR, turn INTEGER, step INTEGER, ordinal INTEGER,
    result_status VARCHAR, error_flag_source VARCHAR, result_fault_layer VARCHAR, harness_message VARCHAR,
    result_text VARCHAR, result_bytes BIGINT, latency_ms DOUBLE,
    state VARCHAR
);

-- What the model wrote in a step in addition to its calls, without the turn's answer; numbers of steps as the file has them. A copy of
-- a turn in another file has copies of its texts, too, with its own turn_id and step.
CREATE TABLE step_texts (
    session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, source VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, model VARCHAR, model_name VARCHAR,
    text VARCHAR USING COMPRESSION zstd
);

-- What it takes to read on in a large log that grows, one row a file (see ingest.pipeline.reading.checkpoint): behind its first
-- `byte_offset` bytes, whose fingerprint is `prefix`, with line number `line`. `open_turns`: JSON, their rows go then.
CREATE TABLE unfinished (
    file_id INTEGER, byte_offset BIGINT, line BIGINT, prefix VARCHAR, made_by VARCHAR, open_turns VARCHAR, state BLOB
);

-- position: 0-based order of the diagnostics of one call. span_*: characters of raw_arguments, half open; NULL = whole.
CREATE TABLE diagnostics (
    call_id VARCHAR, file_id INTEGER, position INTEGER, code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN,
    path VARCHAR, span_start BIGINT, span_end BIGINT, found VARCHAR, became VARCHAR, detail VARCHAR
);

CREATE TABLE codes (code VARCHAR, stage VARCHAR, severity VARCHAR, lossy BOOLEAN, summary VARCHAR, why VARCHAR);

-- probe_id: the same in all sessions that rest on one probe; NULL = each row is one.
CREATE TABLE probes (
    session_id VARCHAR, file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, day DATE, source VARCHAR,
    provider VARCHAR, model VARCHAR, model_name VARCHAR, trial_run VARCHAR, arm VARCHAR,
    ok BOOLEAN, error VARCHAR, probe_id VARCHAR
);

-- Trial runs, as their lock.json describes them before the first request; one row a run and file. `duplicate`: another row
-- is counted instead. tasks, repeats: as planned; reference: the variant that the others are compared with; smallest: the smallest
-- difference worth knowing, in the unit of the primary measure; look_at: numbers of completed tasks at which the run looks,
-- with its boundaries in units of z. task_order: the ids of the tasks in the order of the run; `arms`: objects with name,
-- model, prompt, definitions, strategy, compensations, policy. From `arms` on all are JSON, as lock.json has it.
CREATE TABLE trial_runs (
    run VARCHAR, name VARCHAR, question VARCHAR, created_at TIMESTAMP,
    primary_measure VARCHAR, smallest DOUBLE, alpha DOUBLE, reference VARCHAR, looks INTEGER, expected_rate DOUBLE,
    secondary VARCHAR[], tasks BIGINT, repeats INTEGER, seed BIGINT, max_steps INTEGER,
    look_at BIGINT[], boundaries DOUBLE[], budget_cost DOUBLE, budget_tokens BIGINT, budget_minutes DOUBLE,
    arms VARCHAR, task_order VARCHAR, task_groups VARCHAR, definitions VARCHAR, prices VARCHAR, endpoints VARCHAR,
    versions VARCHAR, hashes VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

-- The result of each interim analysis of a variant against the reference: estimate, low and high are variant - reference;
-- statistic and boundary in units of z. tasks: tasks that both variants have; missing: trials of both without a reply. decision: better | worse |
-- alike | go on | not decided | withheld.
CREATE TABLE trial_looks (
    run VARCHAR, look INTEGER, arm VARCHAR, tasks BIGINT, planned BIGINT,
    estimate DOUBLE, low DOUBLE, high DOUBLE, statistic DOUBLE, boundary DOUBLE,
    decision VARCHAR, missing BIGINT, taken_at TIMESTAMP,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

-- Names of models that are counted as another one, and the rule that says so: naming.toml (of the store), callgauge.toml | a kind of
-- the rules that come with Callgauge. A name that is not here is counted unchanged.
CREATE TABLE model_aliases (model_name VARCHAR, model VARCHAR, rule VARCHAR);

-- Daily sums: additive, without duplicates. The pages read these first. trial_run, `arm`: see sessions.
-- parse_known, parse_errors: n and k of the rate parse_error; schema_full, schema_errors: those of schema_error; `mended`: k
-- of the rate `mended`; mend_known: calls that our parser read, those with syntax_seen or schema_seen 'full'.
-- us: microseconds; example_ts: the time of the example, its day where the log has none, 0001-01-01 without a day.
-- mended_refused: repaired calls whose arguments the agent had already rejected. fault_unknown: no fault was seen, but the log
-- keeps no result or not how the arguments were read. both_known: turns with a recorded and a derived verdict;
-- success_known, succeeded: n and k of the rate turn_success.
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

CREATE TABLE daily_turns (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR,
    turns BIGINT, retried BIGINT, recorded_known BIGINT, recorded_ok BIGINT, derived_known BIGINT, derived_ok BIGINT,
    both_known BIGINT, disagree BIGINT, steps BIGINT, calls BIGINT, retries BIGINT, input_tokens BIGINT, output_tokens BIGINT,
    tokens_known BIGINT, tokens BIGINT, ms_known BIGINT, us BIGINT,
    success_known BIGINT, succeeded BIGINT
);

-- Tokens, apart by what they cost. `whole`: every step of the turn is counted (see turns).
CREATE TABLE daily_tokens (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, session_group UTINYINT,
    whole BOOLEAN, recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, steps BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);

-- Which text of a prompt, and which definition of a tool, was in force when; first_ts and last_ts within the day.
CREATE TABLE daily_prompts (
    day DATE, source VARCHAR, prompt_id VARCHAR, prompt_hash VARCHAR, trial_run VARCHAR, arm VARCHAR,
    turns BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_definitions (
    day DATE, source VARCHAR, tool VARCHAR, mcp_server VARCHAR, definition_id VARCHAR, trial_run VARCHAR, arm VARCHAR,
    calls BIGINT, first_ts TIMESTAMP, last_ts TIMESTAMP
);

CREATE TABLE daily_codes (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR,
    trial_run VARCHAR, arm VARCHAR, tool VARCHAR, mcp_server VARCHAR,
    code VARCHAR, calls BIGINT, findings BIGINT
);

-- What the newest nightly run reports on each changed rate (ingest/store/settling/alerts.py): since when, against what, where.
-- alert_key: its name in the team's memory. dimension, name: of what; a pair has a second of each. found: the run that found
-- it; since: its first day; back: the first day on which the rate was back, and closed the run that showed it. k_now, n_now:
-- from its first day on, while it lasts, and the 95 % interval of that rate; k_before, n_before: on the days of the baseline.
-- difference, low, high: of the rates, with a 95 % interval. q: the corrected p-value of the run that found it. part_of: the key of the alert that leads, whose calls it
-- shares. where_kind: only | most: the change is in no other calls, or mostly in those of where_value.
CREATE TABLE alerts (
    alert_key VARCHAR, dimension VARCHAR, name VARCHAR, second_dimension VARCHAR, second_name VARCHAR, rate VARCHAR,
    since DATE, found DATE, back DATE, closed DATE, rose BOOLEAN,
    k_now BIGINT, n_now BIGINT, low_now DOUBLE, high_now DOUBLE, k_before BIGINT, n_before BIGINT,
    difference DOUBLE, low DOUBLE, high DOUBLE, q DOUBLE, first_before DATE, last_before DATE, part_of VARCHAR,
    where_dimension VARCHAR, where_value VARCHAR, where_kind VARCHAR
);

-- The newest nightly run, one row: how many series and windows it tested, and the smallest change of a model's parse errors (a share)
-- that is likely to be found after one day, and within a week; NULL = no change is. made_of: a hash of the sums that decided.
CREATE TABLE alert_night (
    night DATE, series INTEGER, tests INTEGER, in_a_night DOUBLE, in_a_week DOUBLE, made_of VARCHAR
);

-- What went wrong, without what is different each time (ingest/store/signatures.sql); text is NULL where every call's text
-- was removed.
CREATE TABLE signatures (signature_id VARCHAR, fault_layer VARCHAR, text VARCHAR);

-- The scripts in ingest/store/rollups/ say what the columns of these mean.
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
