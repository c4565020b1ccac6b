-- title: Parameters that calls get wrong
-- question: Which parameters of which tools are behind most findings, and what is found?
SELECT tool, parameter, code, severity, sum(calls) AS calls, arg_max(example, day) AS newest_call
FROM daily_parameters
WHERE trial_run IS NULL
GROUP BY ALL
ORDER BY calls DESC
LIMIT 200
