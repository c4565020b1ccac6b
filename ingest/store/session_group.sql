-- Every session belongs to one of 50 groups, by the first 32 bits of the MD5 of its source and id, whatever day, model or
-- tool it is counted under. The statistics of the groups tell how much those of all sessions vary: delete-a-group
-- jackknife, Wolter, Introduction to Variance Estimation (2007), chapter 4.
CREATE OR REPLACE TEMP MACRO session_group(source, session_id) AS
    (('0x' || left(md5(coalesce(source, '') || chr(0) || coalesce(session_id, '')), 8))::UINTEGER % 50)::UTINYINT;

-- The value of a group in a list that stands beside the sorted ids of its groups.
CREATE OR REPLACE TEMP MACRO of_group(group_ids, listed, id) AS
    coalesce(listed[list_position(group_ids, id)]::BIGINT, 0);

CREATE OR REPLACE TEMP MACRO joined_ids(group_ids, others) AS list_sort(list_distinct(group_ids || others));
