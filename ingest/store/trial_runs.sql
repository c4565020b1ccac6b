-- Marks duplicates, so that each trial run and each interim analysis counts once. For both, present content of a file counts
-- before earlier content.
-- - Of several rows of a run, the row that was read last counts.
-- - The interim analyses of a run are taken from one file, the file that contains the latest one. If this file contains an
--   analysis twice, the later line counts.

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
        file_looks AS (
            SELECT run, file_id, max(look) AS looks, count(*) AS lines, f.status IS NOT DISTINCT FROM 'earlier' AS is_earlier
            FROM trial_looks LEFT JOIN files f USING (file_id)
            GROUP BY ALL
        ),
        counted_files AS (
            FROM file_looks
            QUALIFY row_number() OVER (PARTITION BY run ORDER BY is_earlier, looks DESC, lines DESC, file_id DESC) = 1
        )
    SELECT
        l.rowid AS row,
        c.file_id IS NULL OR row_number() OVER (
            PARTITION BY l.run, l.look, l.arm, l.file_id ORDER BY l.line DESC, l.rowid DESC
        ) > 1 AS is_copy
    FROM trial_looks l LEFT JOIN counted_files c USING (run, file_id)
) ranked
WHERE trial_looks.rowid = ranked.row AND duplicate IS DISTINCT FROM is_copy;
