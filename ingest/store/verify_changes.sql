-- Run before verify.sql after a load. Selects the files whose rows the load read, moved or removed, and the days whose sums it
-- changed.

CREATE OR REPLACE TEMP TABLE verified_files AS
SELECT file_id FROM new_files UNION SELECT file_id FROM rows_before;

CREATE OR REPLACE TEMP TABLE verified_days AS SELECT day FROM changed_days WHERE day IS NOT NULL;

-- Compare with the sums in the main file only, because a load moves the months that it changes back into this file. If it missed
-- a month, the month's other calls would be missing here, and verify.sql would report this.
CREATE OR REPLACE TEMP VIEW compared_calls AS FROM daily_calls;
CREATE OR REPLACE TEMP VIEW compared_turns AS FROM daily_turns;
