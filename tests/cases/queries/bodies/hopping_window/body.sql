SELECT window, carrier, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY window(ts, '10 minutes', '5 minutes'), carrier
