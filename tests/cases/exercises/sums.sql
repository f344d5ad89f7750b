-- SUM, AVG, MIN, MAX
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT carrier, sum(delay) AS s, avg(delay) AS a, min(delay) AS lo, max(delay) AS hi FROM flights GROUP BY carrier;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o ('AA', 40, 20.0, 10, 30), ('DL', 20, 20.0, 20, 20), ('UA', NULL, NULL, NULL, NULL);
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT o ('AA', 90, 30.0, 10, 50), ('DL', 21, 10.5, 1, 20), ('UA', NULL, NULL, NULL, NULL);
