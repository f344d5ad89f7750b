-- REGEXP_EXTRACT, REGEXP_REPLACE, SPLIT, INSTR
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, regexp_extract('ab12', '([a-z]+)([0-9]+)', 2) AS e, regexp_replace(carrier, '[AD]', '-') AS r, split('a,b', ',')[1] AS s, instr(carrier, 'L') AS i FROM flights WHERE id <= 2;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, '12', '--', 'b', 0), (2, '12', '-L', 'b', 2);
