SELECT name, sum(delay) AS total FROM (SELECT upper(carrier) AS name, delay FROM STREAM flights WHERE delay > 0) GROUP BY name
