-- Run after all batches. Updates the number of faults of the sessions whose calls were judged again.
UPDATE sessions SET faults = counted.faults
FROM (
    SELECT session_id, file_id, count(*) FILTER (fault_layer IS NOT NULL) AS faults
    FROM tool_calls SEMI JOIN reworked USING (session_id, file_id) GROUP BY ALL
) counted
WHERE (sessions.session_id, sessions.file_id) = (counted.session_id, counted.file_id);
DROP TABLE reworked;
DROP TABLE queue;
DROP TABLE wanted;
