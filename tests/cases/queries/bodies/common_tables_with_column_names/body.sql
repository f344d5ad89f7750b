WITH a (x, y) AS (SELECT id, carrier FROM flights), b AS (SELECT x FROM a) SELECT * FROM b
