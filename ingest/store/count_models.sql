-- Counts every model under the name that `model_aliases` gives it; the name of the log stays in model_name.
-- Adds to the temporary table `touched_days` (day) the days whose rollups change by it.

CREATE TEMP TABLE counted_as AS
SELECT model_name, coalesce(model_aliases.model, model_name) AS model
FROM (
    SELECT model_name FROM tool_calls UNION SELECT model_name FROM turns
    UNION SELECT model_name FROM step_texts UNION SELECT model_name FROM probes
) LEFT JOIN model_aliases USING (model_name)
WHERE model_name IS NOT NULL;

INSERT INTO touched_days
(
    SELECT day FROM tool_calls JOIN counted_as c USING (model_name) WHERE tool_calls.model <> c.model
    UNION
    SELECT day FROM turns JOIN counted_as c USING (model_name) WHERE turns.model <> c.model
)
EXCEPT FROM touched_days;

UPDATE tool_calls SET model = c.model FROM counted_as c
WHERE tool_calls.model_name = c.model_name AND tool_calls.model <> c.model;
UPDATE turns SET model = c.model FROM counted_as c
WHERE turns.model_name = c.model_name AND turns.model <> c.model;
UPDATE turn_parts SET model = c.model FROM counted_as c
WHERE turn_parts.model_name = c.model_name AND turn_parts.model <> c.model;
UPDATE step_texts SET model = c.model FROM counted_as c
WHERE step_texts.model_name = c.model_name AND step_texts.model <> c.model;
UPDATE probes SET model = c.model FROM counted_as c
WHERE probes.model_name = c.model_name AND probes.model <> c.model;

DROP TABLE counted_as;
