-- A key STRING as Kafka's own serializers write it
CREATE STREAM s (k STRING KEY, v INT)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'KAFKA', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT k, v FROM s;
INSERT INTO s VALUES ('a', 1), ('ß', 2);
RUN;
EXPECT o ('a', 1), ('ß', 2);
