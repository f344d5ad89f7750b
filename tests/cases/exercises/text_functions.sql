-- UCASE, LCASE, SUBSTRING, LEN, TRIM, CONCAT, REPLACE, INITCAP, LPAD
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, lower(carrier) AS l, substring(carrier, 1, 1) AS s, length(trim(concat(' ', carrier, ' '))) AS n, replace(carrier, 'A', 'x') AS r, initcap('a b') AS i, lpad(carrier, 4, '.') AS p FROM flights WHERE id <= 2;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, 'aa', 'A', 2, 'xx', 'A B', '..AA'), (2, 'dl', 'D', 2, 'DL', 'A B', '..DL');
