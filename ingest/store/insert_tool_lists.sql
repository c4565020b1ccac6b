-- Lists of offered tools, which many files tell: each once.
INSERT INTO tool_lists BY NAME
SELECT DISTINCT * FROM incoming i
WHERE NOT EXISTS (FROM tool_lists t WHERE t.tool_list = i.tool_list AND t.tool = i.tool);
