-- Before verify.sql, after a load: the files of which it read, moved or removed rows, and the days whose sums it changed.

CREATE OR REPLACE TEMP TABLE verified_files AS
SELECT file_id FROM new_files UNION SELECT file_id FROM rows_before;

CREATE OR REPLACE TEMP TABLE verified_days AS SELECT day FROM changed_days WHERE day IS NOT NULL;

-- What a load changed is open: of a month that it should have moved back, all other calls would be missing here.
CREATE OR REPLACE TEMP VIEW compared_calls AS FROM daily_calls;
CREATE OR REPLACE TEMP VIEW compared_turns AS FROM daily_turns;
