-- Groups by two columns: a key of two columns
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT carrier, delay > 15 AS late, count(*) AS n FROM flights GROUP BY carrier, delay > 15;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o ('AA', false, 1), ('AA', true, 1), ('DL', true, 1), ('UA', NULL, 1);
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT o ('AA', false, 1), ('AA', true, 2), ('DL', true, 1), ('DL', false, 1), ('UA', NULL, 1);
