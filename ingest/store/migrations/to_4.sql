-- From version 3. All daily sums are recomputed afterwards.

-- The variance of a rate is estimated from groups of sessions.

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

-- Tokens by kind of price. For calls that were loaded earlier, only total input and total output are known.

ALTER TABLE turns ADD COLUMN counted_steps INTEGER;
ALTER TABLE turns ADD COLUMN counted_input BIGINT;
ALTER TABLE turns ADD COLUMN counted_cached BIGINT;
ALTER TABLE turns ADD COLUMN counted_cache_write BIGINT;
ALTER TABLE turns ADD COLUMN counted_output BIGINT;
ALTER TABLE turn_parts ADD COLUMN counted_steps INTEGER;
ALTER TABLE turn_parts ADD COLUMN counted_input BIGINT;
ALTER TABLE turn_parts ADD COLUMN counted_cached BIGINT;
ALTER TABLE turn_parts ADD COLUMN counted_cache_write BIGINT;
ALTER TABLE turn_parts ADD COLUMN counted_output BIGINT;
ALTER TABLE tool_calls ADD COLUMN cached_tokens BIGINT;
ALTER TABLE tool_calls ADD COLUMN cache_write_tokens BIGINT;
ALTER TABLE daily_chains ADD COLUMN counted_steps BIGINT;
ALTER TABLE daily_chains ADD COLUMN counted_input BIGINT;
ALTER TABLE daily_chains ADD COLUMN counted_cached BIGINT;
ALTER TABLE daily_chains ADD COLUMN counted_cache_write BIGINT;
ALTER TABLE daily_chains ADD COLUMN counted_output BIGINT;

CREATE TABLE daily_tokens (
    day DATE, source VARCHAR, provider VARCHAR, model VARCHAR, prompt_id VARCHAR, session_group UTINYINT,
    whole BOOLEAN, recorded_ok BOOLEAN, derived_ok BOOLEAN, turns BIGINT, steps BIGINT,
    counted_steps BIGINT, counted_input BIGINT, counted_cached BIGINT, counted_cache_write BIGINT, counted_output BIGINT
);
