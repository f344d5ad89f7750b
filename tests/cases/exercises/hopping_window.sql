-- Windows that overlap
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO', WATERMARK = 'ts DELAY OF INTERVAL 10 seconds');
CREATE TABLE o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT window.start AS start, carrier, count(*) AS n FROM STREAM flights WHERE carrier = 'DL' GROUP BY window(ts, '1 minute', '30 seconds'), carrier;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (TIMESTAMP '2025-12-31 23:59:30Z', 'DL', 1), (TIMESTAMP '2026-01-01 00:00:00Z', 'DL', 1);
