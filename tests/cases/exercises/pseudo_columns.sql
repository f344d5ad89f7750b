-- Where a record is, when it was written, and by which schema
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, _offset AS row, _partition AS part, _timestamp IS NOT NULL AS timed, _headers IS NULL AS bare, _schema_id > 0 AS known, _topic LIKE '%/flights/%' AS here FROM flights;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, 0, NULL, true, true, true, true), (2, 1, NULL, true, true, true, true), (3, 2, NULL, true, true, true, true), (4, 3, NULL, true, true, true, true);
