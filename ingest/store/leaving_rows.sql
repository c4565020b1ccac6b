-- What the sessions in `leaving` (source, session_id) have, before their rows go: calls, texts, files.

CREATE OR REPLACE TEMP TABLE leaving_calls AS
SELECT call_id, file_id, definition_id, signature_id FROM tool_calls SEMI JOIN leaving USING (source, session_id);

CREATE OR REPLACE TEMP TABLE leaving_texts AS
SELECT prompt_id, prompt_hash AS text_hash FROM turns SEMI JOIN leaving USING (source, session_id)
UNION
SELECT prompt_id, NULL FROM tool_calls SEMI JOIN leaving USING (source, session_id);

CREATE OR REPLACE TEMP TABLE left_files AS
SELECT DISTINCT file_id FROM sessions SEMI JOIN leaving USING (source, session_id);
