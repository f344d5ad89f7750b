SELECT id, upper(carrier) AS carrier, delay / 60.0 AS hours, CASE WHEN delay > 15 THEN 'late' ELSE 'good' END AS kind FROM STREAM flights
