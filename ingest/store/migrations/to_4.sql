-- From version 3. All rollups are made anew afterwards.

-- The spread of a rate is told from groups of sessions.

ALTER TABLE daily_rates DROP COLUMN kk;
ALTER TABLE daily_rates DROP COLUMN kn;
ALTER TABLE daily_rates DROP COLUMN nn;
ALTER TABLE daily_rates ADD COLUMN group_ids UTINYINT[];
ALTER TABLE daily_rates ADD COLUMN group_k UINTEGER[];
ALTER TABLE daily_rates ADD COLUMN group_n UINTEGER[];

ALTER TABLE daily_traits DROP COLUMN kk;
ALTER TABLE daily_traits DROP COLUMN kn;
ALTER TABLE daily_traits DROP COLUMN nn;
ALTER TABLE daily_traits ADD COLUMN group_ids UTINYINT[];
ALTER TABLE daily_traits ADD COLUMN group_k UINTEGER[];
ALTER TABLE daily_traits ADD COLUMN group_n UINTEGER[];

ALTER TABLE daily_chains ADD COLUMN session_group UTINYINT;
ALTER TABLE daily_parallel ADD COLUMN session_group UTINYINT;
ALTER TABLE daily_parameters ADD COLUMN group_ids UTINYINT[];
ALTER TABLE daily_parameters ADD COLUMN group_calls UINTEGER[];
