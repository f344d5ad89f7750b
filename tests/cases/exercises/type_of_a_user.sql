-- A type of its own name
CREATE TYPE address AS STRUCT<street STRING, zip INT>;
CREATE STREAM s (id INT, home address)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'NONE', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, home.zip FROM s;
INSERT INTO s VALUES (1, STRUCT(street := 'Main', zip := 7));
RUN;
EXPECT o (1, 7);
