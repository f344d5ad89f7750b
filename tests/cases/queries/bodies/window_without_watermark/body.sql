SELECT window.start AS start, count(*) AS n FROM STREAM flights GROUP BY window(ts, '1 minute')
