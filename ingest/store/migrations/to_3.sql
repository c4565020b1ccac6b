-- From version 2. All daily sums are recomputed afterwards.

-- Text that the model wrote in each step. It is unknown for logs that were loaded earlier.

CREATE TABLE step_texts (
    session_id VARCHAR, turn_id VARCHAR, turn INTEGER, step INTEGER, source VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, ts TIMESTAMP, model VARCHAR,
    text VARCHAR
);
