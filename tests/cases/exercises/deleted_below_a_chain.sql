-- A deletion goes through two tables
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING, n INT)
WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE TABLE a WITH (CONNECTOR = 'delta', PATH = 'a') AS
SELECT code, n FROM carriers;
CREATE TABLE b WITH (CONNECTOR = 'delta', PATH = 'b') AS
SELECT code, n + 1 AS m FROM a WHERE n > 1;
INSERT INTO carriers VALUES ('AA', 'x', 1), ('DL', 'y', 2), ('UA', 'z', 3);
RUN;
EXPECT b ('DL', 3), ('UA', 4);
DELETE FROM carriers WHERE code = 'DL';
UPDATE carriers SET nm = 'z', n = 0 WHERE code = 'UA';
RUN;
EXPECT a ('AA', 1), ('UA', 0);
EXPECT b NOTHING;
