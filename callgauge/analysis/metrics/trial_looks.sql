-- title: Interim analyses of a run
-- question: What did each interim analysis of a trial run decide about each variant?
-- unit: one row per interim analysis and variant; differences are of the primary measure, variant minus reference
-- column low: lower end of the repeated confidence interval at this analysis
-- column high: upper end of this interval
-- column statistic: test statistic in units of z; if it is beyond boundary, the analysis decides
-- column missing: number of trials without a reply, in both variants
SELECT look, arm, tasks, planned, estimate, low, high, statistic, boundary, decision, missing, taken_at
FROM trial_looks WHERE run = $run AND NOT duplicate ORDER BY look, arm
