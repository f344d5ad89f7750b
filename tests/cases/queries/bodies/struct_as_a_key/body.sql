SELECT s AS k, count(*) AS n FROM flights GROUP BY s
