-- TOPK: the largest of a group
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT carrier, slice(sort_array(collect_list(delay), false), 1, 1) AS top FROM flights WHERE delay > 0 GROUP BY carrier;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o ('AA', array(30)), ('DL', array(20));
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT o ('AA', array(50)), ('DL', array(20));
