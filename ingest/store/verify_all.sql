-- Run before verify.sql. Selects all files and days. Days before `facts_before` are left out, because their rows may be deleted
-- while their sums stay.

CREATE OR REPLACE TEMP TABLE verified_files AS
SELECT file_id FROM files
UNION SELECT file_id FROM stored_sessions UNION SELECT file_id FROM stored_turns
UNION SELECT file_id FROM stored_tool_calls UNION SELECT file_id FROM rejects;

CREATE OR REPLACE TEMP TABLE verified_days AS
SELECT day
FROM (
    SELECT day FROM stored_tool_calls UNION SELECT day FROM stored_turns
    UNION SELECT day FROM stored_daily_calls UNION SELECT day FROM stored_daily_turns
)
WHERE day >= (SELECT coalesce(max(facts_before), DATE '0001-01-01') FROM store_info);

CREATE OR REPLACE TEMP VIEW compared_calls AS FROM stored_daily_calls;
CREATE OR REPLACE TEMP VIEW compared_turns AS FROM stored_daily_turns;
