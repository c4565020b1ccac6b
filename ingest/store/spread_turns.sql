-- Finds turns that may be split over files: they have several rows, one without the turn's beginning and one without a recorded
-- result. The parameter is the number of turns per batch.
CREATE TEMP TABLE spread AS
SELECT turn_id, (row_number() OVER (ORDER BY turn_id) // ?)::INTEGER AS batch FROM turns
WHERE turn_id IN (FROM copied_turns UNION FROM late_turns)
GROUP BY turn_id
HAVING count(*) > 1 AND bool_or(NOT begun)
    AND bool_or(recorded_status IS NULL AND recorded_ok IS NULL);
