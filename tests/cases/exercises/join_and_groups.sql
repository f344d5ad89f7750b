-- Groups of a stream joined with a Delta table
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING, n INT)
WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE TABLE names WITH (CONNECTOR = 'delta', PATH = 'names') AS
SELECT code, nm FROM carriers;
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT n.nm, count(*) AS flights FROM STREAM flights AS f JOIN names AS n ON f.carrier = n.code GROUP BY n.nm;
INSERT INTO carriers VALUES ('AA', 'American', 1), ('DL', 'Delta', 1);
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o ('American', 2), ('Delta', 1);
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT o ('American', 3), ('Delta', 2);
