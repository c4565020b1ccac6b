-- title: Probes of a run
-- question: What did the probes of a run report about each model?
-- unit: one row per model
-- column ok: true if the probe's answer contained a native tool call; NULL if there was no probe, only a declaration
-- column capabilities: JSON object with the value and origin of each capability; the origin is declared, probed or the API
WITH told AS (
  SELECT s.source, s.session_id, s.capabilities, s.started_at, u.model, u.provider
  FROM sessions s
  LEFT JOIN turns u ON u.source = s.source AND u.session_id = s.session_id AND u.trial_run = $run
  WHERE s.trial_run = $run AND NOT s.duplicate
),
of_probes AS (
  SELECT coalesce(p.model_name, p.model) AS model, p.provider, p.ok, p.error, p.ts, t.capabilities
  FROM probes p LEFT JOIN told t ON t.source = p.source AND t.session_id = p.session_id
  WHERE p.trial_run = $run
),
of_sessions AS (
  SELECT model, any_value(provider) AS provider, NULL::BOOLEAN AS ok, NULL AS error, min(started_at) AS ts,
         any_value(capabilities) AS capabilities
  FROM told WHERE model IS NOT NULL AND capabilities IS NOT NULL
  GROUP BY model
)
SELECT model, arg_max(provider, ts) AS provider, bool_or(ok) AS ok, any_value(error) AS error,
       coalesce(arg_max(capabilities, ts) FILTER (ok IS NOT NULL), any_value(capabilities)) AS capabilities
FROM (FROM of_probes UNION ALL BY NAME FROM of_sessions)
GROUP BY model ORDER BY model
