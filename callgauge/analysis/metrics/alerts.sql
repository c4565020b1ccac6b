-- title: Alerts
-- question: Which rates of models, prompts, tools and hosts changed lately, since when, and where?
-- unit: calls or turns, depending on the rate
-- column night: the newest day that was complete at the last load
-- column series: compared series: rates of models, prompts, tools, hosts and their pairs; tests: tests on 1, 3, 7 and 14 days
-- column in_a_night: smallest rise of a model's parse errors (as a share) that would probably show within a day; in_a_week: within a week
-- column alert_key: key of the alert in the decisions and notes; NULL = no alert
-- column dimension: what changed; second_dimension is the other one of a pair
-- column since: first day of the change; found: day on which it was detected
-- column back: first day on which the rate was back; closed: day on which that was detected
-- column k_now: hits among n_now since the first day; k_before of n_before: on the baseline days
-- column difference: difference of both rates, with its 95 % interval
-- column q: corrected p-value on the day of detection
-- column part_of: key of the leading alert with which it shares calls
-- column where_kind: only: all affected calls have where_value; most: most of them
-- note: A nightly run compares the newest 1, 3, 7 and 14 days of each rate with the 28 days before. Both need 30 observations and 10 sessions, and 5 days must come before.
-- note: All tests of a nightly run are one family (Benjamini and Hochberg). A change counts from q = 0.02. The interval includes the variance between days.
-- note: An alert is over when the newest 7 days no longer differ from the days before it began. After 42 days the new rate becomes the baseline.
-- note: Trial calls do not count. If a trial run is selected, there are no alerts.
-- note: If several alerts share calls, the most certain leads. Another is part of it if its other calls did not change.
SELECT night, series, tests, in_a_night, in_a_week, alerts.*
FROM alert_night LEFT JOIN alerts ON true
WHERE $runs::VARCHAR[] IS NULL AND $arms::VARCHAR[] IS NULL
ORDER BY since, alert_key
