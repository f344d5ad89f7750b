SELECT id, s.a AS a, s.b AS b FROM STREAM flights
