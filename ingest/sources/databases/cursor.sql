-- Cursor, `User/globalStorage/state.vscdb`: one table of keys and values. The composer lists its bubbles in order.
-- composer: cursorDiskKV(key, value)
-- bubble: cursorDiskKV(key, value)
WITH composers AS (
    SELECT rowid AS place, substr(key, length('composerData:') + 1) AS id,
        CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(value AS TEXT) ELSE '{}' END AS data
    FROM cursorDiskKV
    WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
),
bubbles AS (
    SELECT composers.id, header.key AS position,
        CASE header.type WHEN 'object' THEN json_extract(header.value, '$.bubbleId') END AS bubble
    FROM composers, json_each(composers.data, '$.fullConversationHeadersOnly') AS header
)
SELECT record, place FROM (
    SELECT 'composer' AS record, place, id, -1 AS position
    FROM composers
    UNION ALL
    SELECT 'bubble', cursorDiskKV.rowid, bubbles.id, bubbles.position
    FROM bubbles
    JOIN cursorDiskKV ON cursorDiskKV.key = 'bubbleId:' || bubbles.id || ':' || bubbles.bubble
    WHERE cursorDiskKV.value IS NOT NULL
)
ORDER BY id, position
