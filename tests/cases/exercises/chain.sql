-- Queries over the results of queries, in any order of creation
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM late WITH (CONNECTOR = 'delta', PATH = 'late') AS
SELECT id, carrier FROM flights WHERE delay > 5;
CREATE TABLE counts WITH (CONNECTOR = 'delta', PATH = 'counts') AS
SELECT carrier, count(*) AS n FROM STREAM late GROUP BY carrier;
CREATE TABLE often WITH (CONNECTOR = 'delta', PATH = 'often') AS
SELECT carrier FROM counts WHERE n > 1;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT counts ('AA', 2), ('DL', 1);
EXPECT often ('AA');
