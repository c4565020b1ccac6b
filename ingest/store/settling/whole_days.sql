-- The facts that are counted where days are summed up whole: all of the store. `is_before` as in concerned_facts.sql.

CREATE OR REPLACE TEMP VIEW counted_sessions AS SELECT *, false AS is_before FROM summed_sessions('stored_sessions');
CREATE OR REPLACE TEMP VIEW counted_turns AS SELECT *, false AS is_before FROM summed_turns('stored_turns');
CREATE OR REPLACE TEMP VIEW counted_calls AS SELECT *, false AS is_before FROM summed_calls('stored_tool_calls');
CREATE OR REPLACE TEMP VIEW counted_findings AS SELECT *, false AS is_before FROM summed_findings('stored_diagnostics');
