-- The sessions with turns on the days in `touched_days`, for rollups/trials.sql. A session whose texts were removed keeps
-- its row: which task it tried can no longer be told.
CREATE TEMP TABLE tried_sessions AS
SELECT DISTINCT source, session_id FROM counted_turns
WHERE NOT is_before AND EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM counted_turns.day)
    AND (source, session_id) NOT IN (SELECT (source, session_id) FROM counted_turns WHERE text_removed);
