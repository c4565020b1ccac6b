-- Finds the sessions in `candidates` (source, session_id) that are older than the days in `limits` (text_before, facts_before;
-- NULL = no limit). Makes two tables (source, session_id): sessions in `leaving` lose all rows, and sessions in `textless` lose
-- their content.

-- Day of the last event in any row of a session. If a session has no time, its content is as old as its load.
CREATE OR REPLACE TEMP TABLE last_events AS
WITH
    events AS (
        SELECT source, session_id, greatest(started_at, ended_at, day::TIMESTAMP) AS event_at, false AS dayless
        FROM stored_sessions
        UNION ALL
        SELECT source, session_id, greatest(ts, ended_at, day::TIMESTAMP), day IS NULL FROM stored_turns
        UNION ALL
        SELECT source, session_id, greatest(ts, day::TIMESTAMP), day IS NULL FROM stored_tool_calls
    ),
    loads AS (
        SELECT s.source, s.session_id, max(r.started_at)::DATE AS loaded, bool_and(s.text_removed IS TRUE) AS text_removed
        FROM stored_sessions s LEFT JOIN files f USING (file_id) LEFT JOIN ingest_runs r USING (run_id)
        GROUP BY ALL
    )
SELECT
    source, session_id, max(event_at)::DATE AS day, bool_or(dayless) AS dayless,
    any_value(loaded) AS loaded, any_value(text_removed) AS text_removed
FROM events JOIN loads USING (source, session_id)
WHERE (source, session_id) IN (FROM candidates)
GROUP BY source, session_id;

-- Calls and turns without a day share one sum, which must match their rows (verify.sql). So sessions with such rows stay.
CREATE OR REPLACE TEMP TABLE leaving AS
SELECT source, session_id FROM last_events, limits WHERE day < facts_before AND NOT dayless;

CREATE OR REPLACE TEMP TABLE textless AS
SELECT source, session_id FROM last_events ANTI JOIN leaving USING (source, session_id), limits
WHERE coalesce(day, loaded) < text_before AND NOT text_removed;

-- An unreadable line is as old as the turn before it in the file. Without such a turn, it is as old as the load of its file.
CREATE OR REPLACE TEMP TABLE old_rejects AS
SELECT r.rowid AS row
FROM rejects r
LEFT JOIN files f USING (file_id) LEFT JOIN ingest_runs i USING (run_id)
ASOF LEFT JOIN (FROM stored_turns WHERE ts IS NOT NULL) t ON t.file_id = r.file_id AND t.byte_offset <= r.byte_offset,
limits
WHERE coalesce(t.ts, i.started_at)::DATE < text_before AND r.code <> 'orphan_result' AND r.snippet <> '';
