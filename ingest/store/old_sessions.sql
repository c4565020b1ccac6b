-- Which of the sessions in `candidates` (source, session_id) lose their facts, and which only their texts. `limits`
-- (text_before, facts_before) holds the days; NULL = no limit. Leaves `leaving` and `textless` (source, session_id).

-- The last sign of life that any row of a session gives. One without a time counts from when it was loaded, for texts.
CREATE OR REPLACE TEMP TABLE last_signs AS
WITH
    signs AS (
        SELECT source, session_id, greatest(started_at, ended_at, day::TIMESTAMP) AS sign, false AS dayless FROM stored_sessions
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
    source, session_id, max(sign)::DATE AS day, bool_or(dayless) AS dayless,
    any_value(loaded) AS loaded, any_value(text_removed) AS text_removed
FROM signs JOIN loads USING (source, session_id)
WHERE (source, session_id) IN (FROM candidates)
GROUP BY source, session_id;

-- Calls without a day are counted together, so their sum cannot be kept without them: such a session stays.
CREATE OR REPLACE TEMP TABLE leaving AS
SELECT source, session_id FROM last_signs, limits WHERE day < facts_before AND NOT dayless;

CREATE OR REPLACE TEMP TABLE textless AS
SELECT source, session_id FROM last_signs ANTI JOIN leaving USING (source, session_id), limits
WHERE coalesce(day, loaded) < text_before AND NOT text_removed;

-- A line that could not be read was written when the turn before it in the file was; without one, its file's load counts.
CREATE OR REPLACE TEMP TABLE old_rejects AS
SELECT r.rowid AS row
FROM rejects r
LEFT JOIN files f USING (file_id) LEFT JOIN ingest_runs i USING (run_id)
ASOF LEFT JOIN (FROM stored_turns WHERE ts IS NOT NULL) t ON t.file_id = r.file_id AND t.byte_offset <= r.byte_offset,
limits
WHERE coalesce(t.ts, i.started_at)::DATE < text_before AND r.code <> 'orphan_result' AND r.snippet <> '';
