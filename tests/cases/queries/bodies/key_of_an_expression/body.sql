SELECT upper(carrier) AS carrier, count(*) AS n FROM STREAM flights GROUP BY upper(carrier)
