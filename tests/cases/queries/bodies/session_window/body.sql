SELECT session_window.start AS start, session_window.end AS end, carrier, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 10 SECONDS GROUP BY session_window(ts, '5 minutes'), carrier
