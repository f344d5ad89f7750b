-- Windows of activity
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO', WATERMARK = 'ts DELAY OF INTERVAL 10 seconds');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT session_window.start AS start, carrier, count(*) AS n FROM STREAM flights GROUP BY session_window(ts, '90 seconds'), carrier
EMIT FINAL;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
INSERT INTO flights VALUES (99, 'ZZ', 0, TIMESTAMP '2026-01-01 09:00:00Z');
RUN;
RUN;
EXPECT o (TIMESTAMP '2026-01-01 00:00:10Z', 'AA', 2), (TIMESTAMP '2026-01-01 00:00:20Z', 'DL', 1), (TIMESTAMP '2026-01-01 00:01:50Z', 'UA', 1);
