-- The key of a table comes out under another name
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING, n INT)
WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT nm AS name, code AS id FROM carriers;
INSERT INTO carriers VALUES ('AA', 'one', 1), ('DL', 'two', 1);
RUN;
DELETE FROM carriers WHERE code = 'AA';
RUN;
EXPECT o (name, id) VALUES ('two', 'DL');
