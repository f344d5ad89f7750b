-- Columns computed and renamed
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id AS flight, delay * 2 AS twice, -id AS minus FROM flights;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, 20, -1), (2, 40, -2), (3, 60, -3), (4, NULL, -4);
