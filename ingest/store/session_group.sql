-- Assigns each session to one of 50 groups, by the first 32 bits of the MD5 of its source and ID. The group does not depend on
-- the day, model or tool. The variation between groups estimates the variance over all sessions: delete-a-group jackknife,
-- Wolter, Introduction to Variance Estimation (2007), chapter 4.
CREATE OR REPLACE TEMP MACRO session_group(source, session_id) AS
    (('0x' || left(md5(coalesce(source, '') || chr(0) || coalesce(session_id, '')), 8))::UINTEGER % 50)::UTINYINT;

-- Value of the group `id` in a list that is parallel to the sorted list of its group ids. A missing group has 0.
CREATE OR REPLACE TEMP MACRO value_of_group(group_ids, group_values, id) AS
    coalesce(group_values[list_position(group_ids, id)]::BIGINT, 0);

CREATE OR REPLACE TEMP MACRO joined_ids(group_ids, others) AS list_sort(list_distinct(group_ids || others));
