-- From version 6. Trial runs. A session whose log names a variant is part of a trial run.

ALTER TABLE sessions ADD COLUMN trial_run VARCHAR;
ALTER TABLE turns ADD COLUMN trial_run VARCHAR;
ALTER TABLE turns ADD COLUMN arm VARCHAR;
ALTER TABLE turn_parts ADD COLUMN trial_run VARCHAR;
ALTER TABLE turn_parts ADD COLUMN arm VARCHAR;
ALTER TABLE tool_calls ADD COLUMN trial_run VARCHAR;
ALTER TABLE tool_calls ADD COLUMN arm VARCHAR;
ALTER TABLE probes ADD COLUMN trial_run VARCHAR;
ALTER TABLE probes ADD COLUMN arm VARCHAR;
ALTER TABLE daily_calls ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_calls ADD COLUMN arm VARCHAR;
ALTER TABLE daily_turns ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_turns ADD COLUMN arm VARCHAR;
ALTER TABLE daily_tokens ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_tokens ADD COLUMN arm VARCHAR;
ALTER TABLE daily_prompts ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_prompts ADD COLUMN arm VARCHAR;
ALTER TABLE daily_definitions ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_definitions ADD COLUMN arm VARCHAR;
ALTER TABLE daily_codes ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_codes ADD COLUMN arm VARCHAR;
ALTER TABLE daily_rates ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_rates ADD COLUMN arm VARCHAR;
ALTER TABLE daily_chains ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_chains ADD COLUMN arm VARCHAR;
ALTER TABLE daily_parallel ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_parallel ADD COLUMN arm VARCHAR;
ALTER TABLE daily_errors ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_errors ADD COLUMN arm VARCHAR;
ALTER TABLE daily_parameters ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_parameters ADD COLUMN arm VARCHAR;
ALTER TABLE daily_traits ADD COLUMN trial_run VARCHAR;
ALTER TABLE daily_traits ADD COLUMN arm VARCHAR;
ALTER TABLE task_trials ADD COLUMN trial_run VARCHAR;
ALTER TABLE task_trials ADD COLUMN arm VARCHAR;
ALTER TABLE task_trials ADD COLUMN mended_k BIGINT;
ALTER TABLE task_trials ADD COLUMN mended_n BIGINT;
ALTER TABLE task_trials ADD COLUMN misses BIGINT;
ALTER TABLE task_trials ADD COLUMN tokens BIGINT;
ALTER TABLE task_trials ADD COLUMN cost DOUBLE;
ALTER TABLE task_trials ADD COLUMN repeat_no VARCHAR;

CREATE TABLE trial_runs (
    run VARCHAR, name VARCHAR, question VARCHAR, created_at TIMESTAMP,
    primary_measure VARCHAR, smallest DOUBLE, alpha DOUBLE, reference VARCHAR, looks INTEGER, expected_rate DOUBLE,
    secondary VARCHAR[], tasks BIGINT, repeats INTEGER, seed BIGINT, max_steps INTEGER,
    look_at BIGINT[], boundaries DOUBLE[], budget_cost DOUBLE, budget_tokens BIGINT, budget_minutes DOUBLE,
    arms VARCHAR, task_order VARCHAR, task_groups VARCHAR, definitions VARCHAR, prices VARCHAR, endpoints VARCHAR,
    versions VARCHAR, hashes VARCHAR,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

CREATE TABLE trial_looks (
    run VARCHAR, look INTEGER, arm VARCHAR, tasks BIGINT, planned BIGINT,
    estimate DOUBLE, low DOUBLE, high DOUBLE, statistic DOUBLE, boundary DOUBLE,
    decision VARCHAR, missing BIGINT, taken_at TIMESTAMP,
    file_id INTEGER, line BIGINT, byte_offset BIGINT, duplicate BOOLEAN
);

UPDATE sessions SET trial_run = coalesce(run, 'unknown') WHERE arm IS NOT NULL;

CREATE TEMP TABLE of_trials AS
SELECT source, session_id, arg_min(trial_run, file_id) AS trial_run, arg_min(arm, file_id) AS arm FROM sessions
WHERE trial_run IS NOT NULL GROUP BY ALL;
UPDATE turns SET trial_run = o.trial_run, arm = o.arm FROM of_trials o
WHERE (turns.source, turns.session_id) = (o.source, o.session_id);
UPDATE turn_parts SET trial_run = o.trial_run, arm = o.arm FROM of_trials o
WHERE (turn_parts.source, turn_parts.session_id) = (o.source, o.session_id);
UPDATE tool_calls SET trial_run = o.trial_run, arm = o.arm FROM of_trials o
WHERE (tool_calls.source, tool_calls.session_id) = (o.source, o.session_id);
UPDATE probes SET trial_run = o.trial_run, arm = o.arm FROM of_trials o
WHERE (probes.source, probes.session_id) = (o.source, o.session_id);
DROP TABLE of_trials;
