SELECT id, x FROM flights, LATERAL (SELECT delay + 1 AS x)
