-- title: Looks of a run
-- question: What did each interim analysis of a trial run say about each variant?
-- unit: one row a look and arm; differences of the primary measure, arm minus reference
-- column low: with high the repeated interval at the boundary of the look
-- column statistic: in units of z, as is boundary: beyond it the look decides
-- column missing: trials of both arms without a reply
SELECT look, arm, tasks, planned, estimate, low, high, statistic, boundary, decision, missing, taken_at
FROM trial_looks WHERE run = $run AND NOT duplicate ORDER BY look, arm
