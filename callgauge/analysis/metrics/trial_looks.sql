-- title: Interim analyses of a run
-- question: What was the verdict of each interim analysis of a trial run on each variant?
-- unit: one row per interim analysis and variant; differences of the primary measure, variant minus reference
-- column low: lower end of the repeated interval at this analysis; high: upper end
-- column statistic: in units of z, like boundary; beyond the boundary, the analysis decides
-- column missing: trials of both variants without a reply
SELECT look, arm, tasks, planned, estimate, low, high, statistic, boundary, decision, missing, taken_at
FROM trial_looks WHERE run = $run AND NOT duplicate ORDER BY look, arm
