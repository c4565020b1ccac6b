-- Sets `model` in the rows of the files in `renamed_files` (file_id): the name from `model_aliases`, or the name in the log
-- (`model_name`). Adds the days whose sums change to `touched_days` (day). Concerned sessions add no day, because the load
-- updates their share of the sums anyway.

CREATE TEMP TABLE models_by_name AS
SELECT model_name, coalesce(model_aliases.model, model_name) AS model
FROM (
    SELECT model_name FROM tool_calls SEMI JOIN renamed_files USING (file_id)
    UNION SELECT model_name FROM turns SEMI JOIN renamed_files USING (file_id)
    UNION SELECT model_name FROM step_texts SEMI JOIN renamed_files USING (file_id)
    UNION SELECT model_name FROM probes SEMI JOIN renamed_files USING (file_id)
) LEFT JOIN model_aliases USING (model_name)
WHERE model_name IS NOT NULL;

INSERT INTO touched_days
(
    SELECT day FROM tool_calls t SEMI JOIN renamed_files USING (file_id) JOIN models_by_name c USING (model_name)
    ANTI JOIN concerned_sessions USING (source, session_id) WHERE t.model <> c.model
    UNION
    SELECT day FROM turns t SEMI JOIN renamed_files USING (file_id) JOIN models_by_name c USING (model_name)
    ANTI JOIN concerned_sessions USING (source, session_id) WHERE t.model <> c.model
)
EXCEPT FROM touched_days;

UPDATE tool_calls SET model = c.model FROM models_by_name c, renamed_files f
WHERE tool_calls.file_id = f.file_id AND tool_calls.model_name = c.model_name AND tool_calls.model <> c.model;
UPDATE turns SET model = c.model FROM models_by_name c, renamed_files f
WHERE turns.file_id = f.file_id AND turns.model_name = c.model_name AND turns.model <> c.model;
UPDATE turn_parts SET model = c.model FROM models_by_name c, renamed_files f
WHERE turn_parts.file_id = f.file_id AND turn_parts.model_name = c.model_name AND turn_parts.model <> c.model;
UPDATE step_texts SET model = c.model FROM models_by_name c, renamed_files f
WHERE step_texts.file_id = f.file_id AND step_texts.model_name = c.model_name AND step_texts.model <> c.model;
UPDATE probes SET model = c.model FROM models_by_name c, renamed_files f
WHERE probes.file_id = f.file_id AND probes.model_name = c.model_name AND probes.model <> c.model;

DROP TABLE models_by_name;
DROP TABLE renamed_files;
