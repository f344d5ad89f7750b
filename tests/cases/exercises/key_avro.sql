-- A key of two columns in Avro
CREATE STREAM s (a STRING KEY, b INT KEY, v INT)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'AVRO', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT a, b, v FROM s WHERE b > 1;
INSERT INTO s VALUES ('x', 1, 10), ('y', 2, 20);
RUN;
EXPECT o ('y', 2, 20);
