SELECT id, p, x.x AS x FROM flights LATERAL VIEW posexplode(arr) AS p, x
