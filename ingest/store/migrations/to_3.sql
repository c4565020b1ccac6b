-- From version 2. All rollups are made anew afterwards.

-- What the model said in each step: of logs that are in by then it is not known.

CREATE TABLE step_texts (
    session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, source VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, model VARCHAR,
    text VARCHAR
);
