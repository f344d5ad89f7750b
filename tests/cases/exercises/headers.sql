-- A header as a column, and all headers
CREATE STREAM s (id INT, trace BINARY HEADER('trace'))
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'NONE', VALUE_FORMAT = 'AVRO');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT id, decode(trace, 'UTF-8') AS trace, size(_headers) AS n FROM s;
INSERT INTO s (id, trace) VALUES (1, X'6161'), (2, X'62');
RUN;
EXPECT o (1, 'aa', 1), (2, 'b', 1);
