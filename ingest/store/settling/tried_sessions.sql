-- Sessions with turns on the days in `touched_days`, for rollups/trials.sql. Sessions whose content was removed are left out and
-- keep their row, because their task cannot be determined again.
CREATE TEMP TABLE tried_sessions AS
SELECT DISTINCT source, session_id FROM counted_turns
WHERE NOT is_before AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM counted_turns.day)
    AND (source, session_id) NOT IN (SELECT (source, session_id) FROM counted_turns WHERE text_removed);
