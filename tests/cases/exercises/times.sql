-- FORMAT_TIMESTAMP, PARSE_DATE, DATEADD, UNIX_TIMESTAMP
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, date_format(ts, 'yyyy-MM-dd HH:mm') AS f, to_date('2026-02-03') AS p, date_add(CAST(ts AS DATE), 3) AS a, unix_seconds(ts) AS u, hour(ts) AS h, timestampadd(MINUTE, 5, ts) AS later FROM flights WHERE id = 3;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (3, '2026-01-01 00:01', '2026-02-03', '2026-01-04', 1767225670, 0, TIMESTAMP '2026-01-01 00:06:10Z');
