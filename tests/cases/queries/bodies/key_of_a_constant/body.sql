SELECT 'all' AS k, count(*) AS n FROM flights GROUP BY 'all'
