SELECT id, explode(m) AS (k, v) FROM STREAM flights
