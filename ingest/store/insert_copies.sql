-- Writes the newest state of files with the same content as a loaded file.
DELETE FROM copies WHERE path IN (SELECT path FROM incoming);
INSERT INTO copies BY NAME SELECT * FROM incoming;
