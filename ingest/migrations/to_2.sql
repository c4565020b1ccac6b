-- What it takes to judge stored calls again. What version 1 did not keep is told from what it kept, or unknown.

ALTER TABLE tool_calls ADD COLUMN tool_sent VARCHAR;
ALTER TABLE tool_calls ADD COLUMN definition_origin VARCHAR;
ALTER TABLE tool_calls ADD COLUMN tools_offered BOOLEAN;
ALTER TABLE tool_calls ADD COLUMN refused_by_harness VARCHAR;
ALTER TABLE tool_calls ADD COLUMN syntax_told VARCHAR;
ALTER TABLE tool_calls ADD COLUMN schema_told VARCHAR;
ALTER TABLE tool_calls ADD COLUMN result_fault_layer VARCHAR;
ALTER TABLE tool_calls ADD COLUMN retry_of VARCHAR;

UPDATE tool_calls SET definition_origin = d.origin
FROM tool_definitions d WHERE d.definition_id = tool_calls.definition_id;

UPDATE tool_calls SET
    tools_offered = coalesce(definition_origin = 'log', false) OR coalesce(parse_error LIKE '%unknown_tool%', false),
    refused_by_harness = CASE WHEN harness_verdict <> 'accepted' THEN harness_verdict END,
    syntax_told = CASE WHEN args_source <> 'raw' THEN syntax_seen ELSE 'none' END,
    schema_told = CASE WHEN result_status <> 'missing' AND schema_seen <> 'full' THEN schema_seen ELSE 'none' END,
    -- Where an earlier layer went wrong, too, the status tells the layer: error is execution, denied is refused.
    result_fault_layer = CASE WHEN fault_layer IN ('tool_rejected', 'execution', 'refused') THEN fault_layer END;

ALTER TABLE turns ADD COLUMN results_expected BOOLEAN;
ALTER TABLE turns ADD COLUMN begun BOOLEAN;
ALTER TABLE turns ADD COLUMN first_step INTEGER;

UPDATE turns SET
    begun = true,
    results_expected = EXISTS (
        FROM tool_calls c
        WHERE c.session_id = turns.session_id AND c.file_id = turns.file_id AND c.result_status <> 'missing'
    ),
    first_step = CASE WHEN steps > 0 THEN 0 END;
