-- Run after concerned.sql. Lists the rows and files of the concerned sessions. `rows_before` lists the rows that earlier loads
-- wrote.

CREATE TEMP TABLE concerned_rows AS
SELECT DISTINCT file_id, source, session_id FROM stored_sessions SEMI JOIN concerned_sessions USING (source, session_id);

CREATE TEMP TABLE concerned_files AS SELECT DISTINCT file_id FROM concerned_rows;

INSERT INTO rows_before FROM concerned_rows WHERE file_id NOT IN (FROM new_files);
