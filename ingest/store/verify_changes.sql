-- Before verify.sql, after a load: the files of which it read, moved or removed rows, and the days whose sums it changed.

CREATE OR REPLACE TEMP TABLE verified_files AS
SELECT file_id FROM new_files UNION SELECT file_id FROM rows_before;

CREATE OR REPLACE TEMP TABLE verified_days AS SELECT day FROM changed_days WHERE day IS NOT NULL;
