-- A key BINARY as Kafka's own serializers write it
CREATE STREAM s (k BINARY KEY, v INT)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT k, v FROM s;
INSERT INTO s VALUES (X'00FF', 1), (X'', 2);
RUN;
EXPECT o (X'00FF', 1), (X'', 2);
