-- title: Deleted days
-- question: From which day on does the store have calls, turns and sessions, and their texts?
-- unit: one row; a day is NULL if nothing was deleted
-- days: kept apart
-- note: `callgauge retain` deletes old texts, and later old calls. Daily sums stay, so rates, trends and counts of those days do not change. Lists of calls and sessions, and everything computed from them, begin later.
-- column facts_before: calls, turns and sessions with no record since this day were deleted
-- column text_before: texts of sessions with no record since this day were deleted
-- column summed_only: selected days that have sums only (before facts_before)
SELECT
  any_value(facts_before) AS facts_before, any_value(text_before) AS text_before,
  (
    SELECT count(DISTINCT day) FROM daily_calls
    WHERE day < (SELECT max(facts_before) FROM store_info) AND {filters: days, trials}
  )::BIGINT AS summed_only
FROM store_info
