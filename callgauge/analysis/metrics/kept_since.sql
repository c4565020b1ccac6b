-- title: Deleted days
-- question: Since which day does the store contain calls, turns and sessions, and since which day does it contain their texts?
-- unit: one row; a day is NULL if nothing was deleted
-- days: kept apart
-- note: `callgauge retain` deletes old texts, and later old calls. It keeps the daily sums, so rates, trends and counts of those days do not change. Lists of calls and sessions, and all numbers computed from them, lack the deleted days.
-- column facts_before: calls, turns and sessions without a record on or after this day were deleted
-- column text_before: texts of sessions without a record on or after this day were deleted
-- column summed_only: number of selected days before facts_before, for which only daily sums exist
SELECT
  any_value(facts_before) AS facts_before, any_value(text_before) AS text_before,
  (
    SELECT count(DISTINCT day) FROM daily_calls
    WHERE day < (SELECT max(facts_before) FROM store_info) AND {filters: days, trials}
  )::BIGINT AS summed_only
FROM store_info
