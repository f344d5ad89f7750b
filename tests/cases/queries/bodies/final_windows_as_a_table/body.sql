SELECT window.end AS end, count(*) AS n FROM STREAM gates GROUP BY window(ts, '1 minute')
