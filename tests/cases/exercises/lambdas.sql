-- TRANSFORM, FILTER, REDUCE with lambdas
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, transform(array(1, 2), x -> x + delay) AS t, filter(array(1, 20), x -> x > delay) AS f, aggregate(array(1, 2), delay, (s, x) -> s + x) AS r, map_filter(map('a', 1, 'b', 2), (k, v) -> v > 1) AS m FROM flights WHERE id = 1;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, array(11, 12), array(20), 13, map('b', 2));
