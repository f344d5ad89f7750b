-- EXTRACTJSONFIELD, TO_JSON_STRING, JSON records
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, get_json_object('{"a": {"b": 7}}', '$.a.b') AS e, to_json(named_struct('c', carrier)) AS j, from_json('{"x": 1}', 'x INT').x AS x FROM flights WHERE id = 2;
INSERT INTO flights VALUES
  (1, 'AA', 10, TIMESTAMP '2026-01-01 00:00:10Z'), (2, 'DL', 20, TIMESTAMP '2026-01-01 00:00:20Z'),
  (3, 'AA', 30, TIMESTAMP '2026-01-01 00:01:10Z'), (4, 'UA', NULL, TIMESTAMP '2026-01-01 00:01:50Z');
RUN;
EXPECT o (2, '7', '{"c":"DL"}', 1);
