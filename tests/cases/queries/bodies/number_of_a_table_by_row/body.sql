SELECT id, (SELECT max(n) FROM carriers c WHERE c.code = f.carrier) AS x FROM flights f
