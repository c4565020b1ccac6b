-- The filters of a metric: `{filters: days, models}` in its SQL stands for these clauses, joined by AND.
-- `{filters a_: models}` takes the parameters `$a_models` and so on. A parameter that is NULL means all; but without a
-- run and an arm, nothing that is of a trial.
-- trials
if($runs IS NULL AND $arms IS NULL, trial_run IS NULL, trial_run IS NOT NULL AND ($runs IS NULL OR list_contains($runs, trial_run)) AND ($arms IS NULL OR list_contains($arms, coalesce(arm, 'unknown'))))
-- days
($from_day IS NULL OR day >= $from_day) AND ($to_day IS NULL OR day <= $to_day)
-- models
($models IS NULL OR list_contains($models, coalesce(model, 'unknown')))
-- providers
($providers IS NULL OR list_contains($providers, coalesce(provider, 'unknown')))
-- prompts
($prompts IS NULL OR list_contains($prompts, coalesce(prompt_id, 'unknown')))
-- tools
($tools IS NULL OR list_contains($tools, coalesce(tool, 'unknown')))
-- mcp_servers
($mcp_servers IS NULL OR list_contains($mcp_servers, coalesce(mcp_server, 'none')))
-- strategies
($strategies IS NULL OR list_contains($strategies, coalesce(strategy, 'unknown')))
-- harness_versions
($harness_versions IS NULL OR list_contains($harness_versions, coalesce(harness_version, 'unknown')))
-- sources
($sources IS NULL OR list_contains($sources, source))
-- definitions
($definitions IS NULL OR list_contains($definitions, coalesce(definition_id, 'unknown')))
