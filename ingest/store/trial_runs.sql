-- Of several rows of one run one counts: that of a file as it is now, then the one that was read last. Looks count from one
-- file a run, the fullest of those; a look that was taken again counts as the later line says.

UPDATE trial_runs SET duplicate = ranked.is_copy
FROM (
    SELECT
        r.rowid AS row,
        row_number() OVER (
            PARTITION BY run ORDER BY f.status IS NOT DISTINCT FROM 'earlier', r.file_id DESC, r.line DESC, r.rowid DESC
        ) > 1 AS is_copy
    FROM trial_runs r LEFT JOIN files f USING (file_id)
) ranked
WHERE trial_runs.rowid = ranked.row AND duplicate IS DISTINCT FROM is_copy;

UPDATE trial_looks SET duplicate = ranked.is_copy
FROM (
    WITH
        held AS (
            SELECT run, file_id, max(look) AS looks, count(*) AS lines, f.status IS NOT DISTINCT FROM 'earlier' AS is_earlier
            FROM trial_looks LEFT JOIN files f USING (file_id)
            GROUP BY ALL
        ),
        counting AS (
            FROM held
            QUALIFY row_number() OVER (PARTITION BY run ORDER BY is_earlier, looks DESC, lines DESC, file_id DESC) = 1
        )
    SELECT
        l.rowid AS row,
        c.file_id IS NULL OR row_number() OVER (
            PARTITION BY l.run, l.look, l.arm, l.file_id ORDER BY l.line DESC, l.rowid DESC
        ) > 1 AS is_copy
    FROM trial_looks l LEFT JOIN counting c USING (run, file_id)
) ranked
WHERE trial_looks.rowid = ranked.row AND duplicate IS DISTINCT FROM is_copy;
