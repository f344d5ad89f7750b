SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY 1
