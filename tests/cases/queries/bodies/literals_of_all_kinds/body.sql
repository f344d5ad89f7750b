SELECT id, X'CAFE' AS x, 1e3 AS d, 1.5BD AS bd, 3Y AS y, 4S AS s, 5L AS l, 1.5F AS f FROM flights
