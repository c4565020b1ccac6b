-- From version 8: facts may stand in files beside the generation.

CREATE TABLE segments (
    number INTEGER, name VARCHAR, size_bytes BIGINT, sessions BIGINT, turns BIGINT, calls BIGINT,
    first_day DATE, last_day DATE, has_deleted BOOLEAN, model_names VARCHAR[]
);
