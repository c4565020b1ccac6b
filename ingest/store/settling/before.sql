-- Saves the columns that the sums need of the rows in `kept_rows` (file_id, source, session_id), before a load changes these
-- rows.

INSERT INTO sessions_before BY NAME
SELECT * EXCLUDE (task, repeat_no)
FROM summed_sessions('stored_sessions') SEMI JOIN kept_rows USING (file_id, source, session_id);

INSERT INTO turns_before BY NAME
SELECT * EXCLUDE (asked, asked_text, asked_length)
FROM summed_turns('stored_turns') SEMI JOIN kept_rows USING (file_id, source, session_id);

INSERT INTO calls_before BY NAME
FROM summed_calls('stored_tool_calls') SEMI JOIN kept_rows USING (file_id, source, session_id);

INSERT INTO findings_before BY NAME
FROM summed_findings('stored_diagnostics') SEMI JOIN (
    FROM calls_before SEMI JOIN kept_rows USING (file_id, source, session_id)
) USING (call_id, file_id);
