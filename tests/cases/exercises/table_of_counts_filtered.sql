-- A table that a query fills is filtered by another one
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE counts WITH (CONNECTOR = 'delta', PATH = 'counts') AS
SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier;
CREATE TABLE rare WITH (CONNECTOR = 'delta', PATH = 'rare') AS
SELECT carrier, n FROM counts WHERE n < 2;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT counts ('AA', 2), ('DL', 1), ('UA', 1);
EXPECT rare ('DL', 1), ('UA', 1);
INSERT INTO flights VALUES (5, 'AA', 50, TIMESTAMP '2026-01-01 00:05:00Z'), (6, 'DL', 1, TIMESTAMP '2026-01-01 00:06:00Z');
RUN;
EXPECT counts ('AA', 3), ('DL', 2), ('UA', 1);
EXPECT rare ('UA', 1);
