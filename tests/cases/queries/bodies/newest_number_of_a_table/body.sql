SELECT id, delay - (SELECT avg(n) FROM carriers) AS above FROM STREAM flights
