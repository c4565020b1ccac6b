-- Makes the empty tables that before.sql fills.

CREATE TEMP TABLE IF NOT EXISTS sessions_before AS
SELECT * EXCLUDE (task, repeat_no) FROM summed_sessions('sessions') LIMIT 0;

CREATE TEMP TABLE IF NOT EXISTS turns_before AS
SELECT * EXCLUDE (asked, asked_text, asked_length) FROM summed_turns('turns') LIMIT 0;

CREATE TEMP TABLE IF NOT EXISTS calls_before AS FROM summed_calls('tool_calls') LIMIT 0;

CREATE TEMP TABLE IF NOT EXISTS findings_before AS FROM summed_findings('diagnostics') LIMIT 0;
