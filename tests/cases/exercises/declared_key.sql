-- A table whose key the head declares: the last row of each key stays
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE o (carrier STRING PRIMARY KEY) WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT carrier, id, delay FROM STREAM flights;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o ('AA', 3, 30), ('DL', 2, 20), ('UA', 4, NULL);
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT o ('AA', 5, 50), ('DL', 6, 1), ('UA', 4, NULL);
