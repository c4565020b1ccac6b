-- title: Related sessions
-- question: Which session started this session, which sessions did it start, and which sessions contain turns that it repeats?
-- unit: one row per session and relation
-- column relation: relation of the other session to this session: parent, child (usually a sub-agent) or told_in (it contains turns that this session repeats)
-- column turns: turns of the other session; for told_in, only turns that this session repeats
-- note: At most 200 sub-agents are listed, ordered by their start.
WITH kin AS (
  SELECT 'parent' AS relation, parent_session_id AS session_id FROM sessions
  WHERE session_id = $session AND source = $source AND parent_session_id IS NOT NULL
  UNION
  SELECT 'child', session_id FROM sessions WHERE parent_session_id = $session AND source = $source AND session_id <> $session
),
repeated AS (
  SELECT o.session_id, count(DISTINCT o.turn_id) AS turns
  FROM turns o SEMI JOIN (SELECT turn_id FROM turns WHERE session_id = $session AND source = $source AND duplicate) t USING (turn_id)
  WHERE NOT coalesce(o.duplicate, false) AND o.session_id <> $session
  GROUP BY 1
)
(SELECT relation, session_id, min(started_at) AS started_at, coalesce(max(s.turns), 0)::BIGINT AS turns, coalesce(max(s.calls), 0)::BIGINT AS calls,
       coalesce(max(s.faults), 0)::BIGINT AS faults, count(s.session_id) > 0 AS stored
FROM kin LEFT JOIN sessions s USING (session_id)
WHERE coalesce(s.source, $source) = $source
GROUP BY relation, session_id
UNION ALL
SELECT 'told_in', session_id, NULL, turns::BIGINT, NULL, NULL, true FROM repeated)
ORDER BY relation, started_at NULLS LAST, session_id
LIMIT 202
