-- INSERT of some columns: the others are null
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, carrier, delay FROM flights;
INSERT INTO flights (delay, id) VALUES (7, 1);
RUN;
EXPECT o (1, NULL, 7);
