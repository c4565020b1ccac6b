-- After concerned_facts.sql: the same facts, and beside them what before.sql kept of them from before the load.

CREATE OR REPLACE TEMP VIEW counted_sessions AS
SELECT *, false AS is_before FROM summed_sessions('sessions') SEMI JOIN rows_after USING (file_id, source, session_id)
UNION ALL BY NAME SELECT *, true AS is_before FROM sessions_before;
CREATE OR REPLACE TEMP VIEW counted_turns AS
SELECT *, false AS is_before FROM summed_turns('turns') SEMI JOIN rows_after USING (file_id, source, session_id)
UNION ALL BY NAME SELECT *, true AS is_before FROM turns_before;
CREATE OR REPLACE TEMP VIEW counted_calls AS
SELECT *, false AS is_before FROM summed_calls('tool_calls') SEMI JOIN rows_after USING (file_id, source, session_id)
UNION ALL BY NAME SELECT *, true AS is_before FROM calls_before;
CREATE OR REPLACE TEMP VIEW counted_findings AS
SELECT *, false AS is_before FROM summed_findings('diagnostics')
SEMI JOIN (FROM counted_calls WHERE NOT is_before) USING (call_id, file_id)
UNION ALL BY NAME SELECT *, true AS is_before FROM findings_before;
