-- A key INT as Kafka's own serializers write it
CREATE STREAM s (k INT KEY, v INT)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT k, v FROM s;
INSERT INTO s VALUES (1, 1), (-7, 2);
RUN;
EXPECT o (1, 1), (-7, 2);
