-- Values in PROTOBUF, nested ones too
CREATE STREAM s (i INT, l BIGINT, t STRING, b BOOLEAN, d DOUBLE, a ARRAY<INT>, m MAP<STRING, INT>, r STRUCT<x INT, y STRING>)
WITH (CONNECTOR = 'files', PATH = 's', KEY_FORMAT = 'NONE', VALUE_FORMAT = 'PROTOBUF');
CREATE STREAM o WITH (CONNECTOR = 'delta', PATH = 'o') AS
SELECT i, l, t, b, d, a[1] AS e, m['k'] AS k, r.y FROM s;
INSERT INTO s VALUES (1, 2, 'ß', TRUE, 0.5, ARRAY(1, 2), MAP('k', 3), STRUCT(x := 1, y := 'z'));
RUN;
EXPECT o (1, 2, 'ß', true, 0.5, 2, 3, 'z');
