-- From version 4. The earlier contents of a file stay. Model names and files that are not logs are recorded.

ALTER TABLE files ADD COLUMN foreign_kind VARCHAR;
ALTER TABLE files ADD COLUMN refused_by VARCHAR;
ALTER TABLE files ADD COLUMN path_facts VARCHAR;

ALTER TABLE sessions ADD COLUMN run VARCHAR;

-- `model_name` is the name in the log, and `model` is the model that the name counts as.

CREATE TABLE model_aliases (model_name VARCHAR, model VARCHAR, rule VARCHAR);

ALTER TABLE turns ADD COLUMN model_name VARCHAR;
ALTER TABLE turns ADD COLUMN model_source VARCHAR;
ALTER TABLE turn_parts ADD COLUMN model_name VARCHAR;
ALTER TABLE turn_parts ADD COLUMN model_source VARCHAR;
ALTER TABLE tool_calls ADD COLUMN model_name VARCHAR;
ALTER TABLE tool_calls ADD COLUMN model_source VARCHAR;
ALTER TABLE step_texts ADD COLUMN model_name VARCHAR;
ALTER TABLE probes ADD COLUMN model_name VARCHAR;

UPDATE turns SET model_name = model, model_source = 'log' WHERE model IS NOT NULL;
UPDATE turn_parts SET model_name = model, model_source = 'log' WHERE model IS NOT NULL;
UPDATE tool_calls SET model_name = model, model_source = 'log' WHERE model IS NOT NULL;
UPDATE step_texts SET model_name = model WHERE model IS NOT NULL;
UPDATE probes SET model_name = model WHERE model IS NOT NULL;

ALTER TABLE files ADD COLUMN follows INTEGER;
ALTER TABLE files ADD COLUMN lacks VARCHAR;
ALTER TABLE ingest_runs ADD COLUMN sessions_replaced BIGINT;
ALTER TABLE ingest_runs ADD COLUMN sessions_removed BIGINT;
ALTER TABLE ingest_runs ADD COLUMN calls_fewer BIGINT;
