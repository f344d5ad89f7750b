-- ENCODE, HEX, MD5, TO_BYTES
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, hex(carrier) AS h, md5(carrier) = md5('AA') AS same, CAST(carrier AS BINARY) AS b, base64(CAST(carrier AS BINARY)) AS t FROM flights WHERE id = 1;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (1, '4141', true, X'4141', 'QUE=');
