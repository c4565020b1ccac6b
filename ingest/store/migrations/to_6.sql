-- From version 5: sessions that are spread over files.

CREATE TABLE file_members (file_id INTEGER, line BIGINT, byte_offset BIGINT, path VARCHAR);
