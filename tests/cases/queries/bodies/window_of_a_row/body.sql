SELECT id, window_time(window) AS x, window.end AS e FROM (SELECT id, window(ts, '1 minute') AS window FROM flights)
