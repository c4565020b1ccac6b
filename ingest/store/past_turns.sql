-- Returns the turns of a file's content `$file_id` and of its earlier contents. At most `$most` turns are returned, from the
-- sessions with the latest events.
WITH RECURSIVE
    contents (file_id) AS (
        SELECT $file_id::INTEGER
        UNION
        SELECT f.follows FROM contents JOIN files f USING (file_id) WHERE f.follows IS NOT NULL
    ),
    past_turns AS (
        SELECT
            session_id, turn, turn_id, min(ts) AS ts, max(steps) AS steps,
            md5(min(user_text) FILTER (begun)) AS text_hash,
            max(prompt_id) AS prompt_id, max(prompt_hash) AS prompt_hash, max(provider) AS provider,
            max(model_name) FILTER (model_source = 'log') AS model,
            coalesce(bool_or(derived_reason <> 'not_ended') FILTER (NOT duplicate), true) AS ended
        FROM stored_turns
        WHERE file_id IN (FROM contents) AND source = (SELECT source FROM files WHERE file_id = $file_id)
        GROUP BY session_id, turn, turn_id
    ),
    dated_turns AS (
        SELECT *, max(ts) OVER (PARTITION BY session_id) AS last_event FROM past_turns
    ),
    latest AS (
        FROM dated_turns QUALIFY row_number() OVER (ORDER BY last_event DESC NULLS LAST, session_id, turn DESC) <= $most
    )
SELECT
    session_id, turn, turn_id, ts, text_hash, coalesce(steps, 0) AS steps, ended, prompt_id, prompt_hash, provider, model
FROM latest ORDER BY session_id, turn, ts, turn_id
