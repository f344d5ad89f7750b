-- ABS, CEIL, FLOOR, ROUND, SQRT, SIGN, GREATEST, LEAST
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, abs(-delay) AS a, ceil(delay / 3) AS c, floor(delay / 3) AS f, round(delay / 3, 1) AS r, sqrt(delay * delay) AS q, greatest(delay, 15) AS g, least(delay, 15) AS l FROM flights WHERE id < 3;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, 10, 4, 3, 3.3, 10.0, 15, 10), (2, 20, 7, 6, 6.7, 20.0, 20, 15);
