-- The sessions in `textless` (source, session_id) lose every text that a model, a person or a tool wrote. What was judged
-- and counted stays: codes, layers, lengths, names of tools, parameters, models and prompts. After remove_facts.sql.

CREATE OR REPLACE TEMP TABLE textless_calls AS
SELECT DISTINCT call_id, file_id FROM tool_calls SEMI JOIN textless USING (source, session_id);

-- Of a finding's text the code stays; behind it may stand what was sent. The reason of json_parse_error is one of a list.
CREATE OR REPLACE TEMP MACRO only_codes(found, known) AS nullif(array_to_string(list_filter(
    regexp_extract_all(found, '(?:^|; )(json_parse_error:[a-z_]+|[a-z_]+)', 1),
    lambda one: list_contains(known, split_part(one, ':', 1))
), '; '), '');

-- A key that is no plain name may be anything.
CREATE OR REPLACE TEMP MACRO plain_path(path) AS regexp_replace(path, '\["(?:[^"\\]|\\.)*"\]', '["removed"]', 'g');

UPDATE tool_calls SET
    raw_bytes = strlen(raw_arguments), raw_chars = length(raw_arguments), text_removed = true,
    raw_arguments = NULL, own_arguments = NULL, rejected = NULL, tool_sent = NULL, harness_message = NULL,
    result_text = NULL, parse_error = only_codes(parse_error, known), parse_warning = only_codes(parse_warning, known)
FROM (SELECT list(code) || ['refused_by_harness'] AS known FROM codes) known_codes
WHERE (source, session_id) IN (FROM textless) AND text_removed IS NULL;

UPDATE diagnostics SET path = plain_path(path), found = NULL, became = NULL, detail = NULL
WHERE (call_id, file_id) IN (FROM textless_calls);

UPDATE turns SET user_text = NULL, answer_text = NULL, verdict_reason = NULL, text_removed = true
WHERE (source, session_id) IN (FROM textless);
UPDATE turn_parts SET user_text = NULL, answer_text = NULL, verdict_reason = NULL, text_removed = true
WHERE (source, session_id) IN (FROM textless);
UPDATE late_results SET result_text = NULL, harness_message = NULL WHERE (source, session_id) IN (FROM textless);
UPDATE probes SET error = NULL WHERE (source, session_id) IN (FROM textless);
DELETE FROM step_texts WHERE (source, session_id) IN (FROM textless);
UPDATE sessions SET text_removed = true WHERE (source, session_id) IN (FROM textless);

UPDATE rejects SET snippet = '', reason = 'removed by callgauge retain' WHERE rowid IN (FROM old_rejects);

-- What is kept for reading on may hold the texts of any session of the log: it is read whole when it grows.
DELETE FROM unfinished
WHERE file_id IN (SELECT file_id FROM sessions WHERE text_removed) OR file_id IN (FROM left_files);
