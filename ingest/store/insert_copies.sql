-- A copy of a file: its newest look.
DELETE FROM copies WHERE path IN (SELECT path FROM incoming);
INSERT INTO copies BY NAME SELECT * FROM incoming;
