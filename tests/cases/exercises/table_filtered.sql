-- A table filtered: a row that no longer fits, and one that is deleted, are deleted from the result
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING, n INT)
WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT code, upper(nm) AS nm, n FROM carriers WHERE n > 10;
INSERT INTO carriers VALUES ('AA', 'american', 20), ('DL', 'delta', 5), ('UA', 'united', 30);
RUN;
EXPECT o ('AA', 'AMERICAN', 20), ('UA', 'UNITED', 30);
INSERT INTO carriers VALUES ('AA', 'american', 1), ('DL', 'delta', 50);
DELETE FROM carriers WHERE code = 'UA';
RUN;
EXPECT o ('DL', 'DELTA', 50);
RUN;
EXPECT o ('DL', 'DELTA', 50);
