-- title: What goes with failure
-- question: How often do arguments fail in calls that are long, deep, not in English letters, late, or made among many tools?
-- unit: calls
-- column trait: length (bytes of the raw arguments), depth (of nesting), non_ascii (bytes beyond one a character), turn (its number), offered (tools the model could choose from)
-- column class: orders the classes of a trait, as the page names them
-- column sessions: in which n was observed
-- column kk: sum over these sessions of k², as kn of k·n and nn of n²: what the interval needs to know how alike calls of one session are
-- note: k are parse errors: arguments that the harness or our parser refused; n the calls whose arguments were judged and of which the trait is known. The depth of a text that is no JSON is not known.
-- note: What goes with failure need not cause it: the same tool or model may have both.
SELECT trait, class, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n, sum(sessions)::BIGINT AS sessions,
       sum(kk)::BIGINT AS kk, sum(kn)::BIGINT AS kn, sum(nn)::BIGINT AS nn
FROM daily_traits
  WHERE {filters: days, models, prompts, tools, sources}
GROUP BY trait, class
ORDER BY trait, class
