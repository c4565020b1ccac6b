-- The facts that are counted for what a load changed: those of the sessions in `concerned_sessions`. `is_before`: as they
-- were before the load, see facts_with_before.sql.

CREATE OR REPLACE TEMP TABLE rows_after AS
SELECT DISTINCT file_id, source, session_id FROM sessions SEMI JOIN concerned_sessions USING (source, session_id);

CREATE OR REPLACE TEMP VIEW counted_sessions AS
SELECT *, false AS is_before FROM summed_sessions('sessions') SEMI JOIN rows_after USING (file_id, source, session_id);
CREATE OR REPLACE TEMP VIEW counted_turns AS
SELECT *, false AS is_before FROM summed_turns('turns') SEMI JOIN rows_after USING (file_id, source, session_id);
CREATE OR REPLACE TEMP VIEW counted_calls AS
SELECT *, false AS is_before FROM summed_calls('tool_calls') SEMI JOIN rows_after USING (file_id, source, session_id);
CREATE OR REPLACE TEMP VIEW counted_findings AS
SELECT *, false AS is_before FROM summed_findings('diagnostics') SEMI JOIN counted_calls USING (call_id, file_id);
