-- title: Alerts
-- question: Which rates of models, prompts, tools and hosts changed lately, since when, and where?
-- unit: calls or turns, depending on the rate
-- column night: the newest day for which the last load had complete data
-- column series: number of compared series: rates of models, prompts, tools, hosts and pairs of these
-- column tests: number of tests on the newest 1, 3, 7 and 14 days
-- column in_a_night: smallest rise of a model's share of parse errors that one day of data would probably show
-- column in_a_week: smallest such rise that one week of data would probably show
-- column alert_key: key of the alert in the decisions and notes; NULL = no alert
-- column dimension: what changed: a model, prompt, tool or host
-- column second_dimension: the other dimension if a pair changed
-- column since: first day of the change
-- column found: day on which the change was detected
-- column back: first day on which the rate was normal again
-- column closed: day on which the return to normal was detected
-- column k_now: number of hits since the first day of the change
-- column n_now: number of observations since that day
-- column k_before: number of hits on the baseline days
-- column n_before: number of observations on the baseline days
-- column difference: rate since the change minus rate on the baseline days, with a 95 % interval
-- column q: p-value on the day of detection, corrected for multiple tests
-- column part_of: key of the leading alert that shares calls with this alert
-- column where_kind: only = all affected calls have the value where_value; most = most of them have it
-- note: A nightly run compares the newest 1, 3, 7 and 14 days of each rate with the 28 days before. Both periods need at least 30 observations and 10 sessions. At least 5 days must come before the newest days.
-- note: All tests of a nightly run are corrected together (Benjamini and Hochberg). A change is an alert if its corrected p-value is at most 0.02. The interval includes the variance between days.
-- note: An alert ends when the newest 7 days no longer differ from the days before the alert began. After 42 days the new rate becomes the baseline.
-- note: Trial calls do not count. If a trial run is selected, there are no alerts.
-- note: If several alerts share calls, the most certain alert leads. Another alert is part of it if the rate of its remaining calls did not change.
SELECT night, series, tests, in_a_night, in_a_week, alerts.*
FROM alert_night LEFT JOIN alerts ON true
WHERE $runs::VARCHAR[] IS NULL AND $arms::VARCHAR[] IS NULL
ORDER BY since, alert_key
