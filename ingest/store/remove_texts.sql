-- Run after remove_facts.sql. Removes the content of the sessions in `textless` (source, session_id), whether a model, a person
-- or a tool wrote it. Results of checks stay: diagnostic codes, failure stages, lengths, and the names of tools, parameters,
-- models and prompts.

CREATE OR REPLACE TEMP TABLE textless_calls AS
SELECT DISTINCT call_id, file_id FROM tool_calls SEMI JOIN textless USING (source, session_id);

-- Keeps only the codes of a parse error, because its details may quote the arguments. The reason after json_parse_error stays,
-- because it is one of a fixed list.
CREATE OR REPLACE TEMP MACRO only_codes(found, known) AS nullif(array_to_string(list_filter(
    regexp_extract_all(found, '(?:^|; )(json_parse_error:[a-z_]+|[a-z_]+)', 1),
    lambda item: list_contains(known, split_part(item, ':', 1))
), '; '), '');

-- Replaces the keys of a path that are not plain names, because such a key may be content.
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

-- The checkpoint of a log may contain content of any of its sessions. Without it, the log is read from its start when it grows.
DELETE FROM unfinished
WHERE file_id IN (SELECT file_id FROM sessions WHERE text_removed) OR file_id IN (FROM leaving_files);
