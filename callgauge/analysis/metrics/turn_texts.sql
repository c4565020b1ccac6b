-- title: Text of turns
-- question: What did the user write, and what did the agent answer, in these turns of a session?
-- unit: one row per turn, from $first_turn to $last_turn; rows that another file repeats are left out
-- note: The store contains only the first 2,000 characters of each text.
SELECT turn_id, user_text, answer_text FROM turns
WHERE session_id = $session AND source = $source AND turn BETWEEN $first_turn AND $last_turn AND NOT coalesce(duplicate, false)
ORDER BY turn, turn_id
