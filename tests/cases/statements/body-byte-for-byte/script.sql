CREATE STREAM b AS   /* c */ SELECT /*+ hint */ 'a;b', "c;d", `e;f`, r'\', 'it''s' /* ; /* ; */ ; */ FROM STREAM x -- ;
WHERE a < 1.5e3	AND b = '\'';
CREATE STREAM c AS (SELECT 1);
CREATE STREAM d AS FROM STREAM x |> WHERE a > 1;
CREATE STREAM e AS WITH t AS (SELECT * FROM STREAM x) SELECT * FROM t
