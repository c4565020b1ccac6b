-- title: Alerts
-- question: Which rates of models, prompts, tools and hosts changed lately, since when, and where?
-- unit: calls or turns, as the rate says
-- column night: the newest day that was complete at the last load
-- column series: rates of models, prompts, tools, hosts and their pairs that the nightly run compared; tests: on 1, 3, 7 and 14 days
-- column in_a_night: the smallest rise of a model's parse errors, a share, that would probably show within a day; in_a_week: within a week
-- column alert_key: the key of the alert in the decisions and notes; NULL when there is no alert
-- column dimension: what changed; second_dimension is the other one of a pair
-- column since: its first day; found: the day on which it was found
-- column back: the first day on which the rate was back; closed: the day that showed it
-- column k_now: hits of n_now from the first day on; k_before of n_before on the days compared with
-- column difference: of both rates, with its 95 % interval
-- column q: the corrected p-value of the day that found it
-- column part_of: the key of the alert that leads, whose calls it shares
-- column where_kind: only: the change is in no other calls than those of where_value; most: mostly in those
-- note: A nightly run compares the newest 1, 3, 7 and 14 days of each rate with the 28 days before, if both have 30 observations and 10 sessions and 5 days come before.
-- note: All tests of a nightly run are one family (Benjamini and Hochberg); a change counts from q 0.02 on. How much days differ is in the interval.
-- note: An alert is over when the newest 7 days no longer differ from the days before it began. After 42 days the new rate is the usual one.
-- note: Calls of trials do not count, and where a run of trials is chosen there are no alerts.
-- note: Of alerts that share calls the surest leads. Another is part of it where its other calls did not change.
SELECT night, series, tests, in_a_night, in_a_week, alerts.*
FROM alert_night LEFT JOIN alerts ON true
WHERE $runs::VARCHAR[] IS NULL AND $arms::VARCHAR[] IS NULL
ORDER BY since, alert_key
