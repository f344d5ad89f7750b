SELECT id, a.* FROM flights LATERAL VIEW json_tuple(carrier, 'a', 'b') a AS x, y
