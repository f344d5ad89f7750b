-- ARRAY, its elements, and functions over it
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, array(id, 9)[0] AS e, array_contains(array(1, 2), id) AS has, size(array_distinct(array(1, 1, 2))) AS n, array_join(array_union(array('a'), array(carrier)), '-') AS u, array_max(array(3, 5)) AS m, slice(array(1, 2, 3), 2, 2) AS s FROM flights WHERE id <= 3 AND id > 1;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (2, 2, true, 2, 'a-DL', 5, array(2, 3)), (3, 3, false, 2, 'a-AA', 5, array(2, 3));
