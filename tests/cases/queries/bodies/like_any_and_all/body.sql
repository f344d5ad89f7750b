SELECT id, carrier LIKE ANY ('a%', 'b%') AS x, carrier NOT LIKE ALL ('a%') AS y FROM flights
