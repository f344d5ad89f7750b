SELECT id, delay IS DISTINCT FROM 1 AS a, delay <=> 2 AS b, NOT delay > 1 AS c FROM flights
