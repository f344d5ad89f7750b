-- Several changes of a key before a run: the last one counts
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING, n INT)
WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT code, nm FROM carriers;
INSERT INTO carriers VALUES ('AA', 'one', 1);
DELETE FROM carriers WHERE code = 'AA';
INSERT INTO carriers VALUES ('AA', 'two', 2), ('DL', 'x', 1);
DELETE FROM carriers WHERE code = 'DL';
RUN;
EXPECT o ('AA', 'two');
