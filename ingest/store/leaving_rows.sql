-- Saves the calls, texts and files of the sessions in `leaving` (source, session_id) before their rows are removed. Later
-- scripts use them to remove what only these sessions used.

CREATE OR REPLACE TEMP TABLE leaving_calls AS
SELECT call_id, file_id, definition_id, signature_id FROM tool_calls SEMI JOIN leaving USING (source, session_id);

CREATE OR REPLACE TEMP TABLE leaving_texts AS
SELECT prompt_id, prompt_hash AS text_hash FROM turns SEMI JOIN leaving USING (source, session_id)
UNION
SELECT prompt_id, NULL FROM tool_calls SEMI JOIN leaving USING (source, session_id);

CREATE OR REPLACE TEMP TABLE leaving_files AS
SELECT DISTINCT file_id FROM sessions SEMI JOIN leaving USING (source, session_id);
