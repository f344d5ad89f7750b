SELECT window.start AS start, carrier, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 10 SECONDS GROUP BY window(ts, '1 minute'), carrier HAVING count(*) > 3
