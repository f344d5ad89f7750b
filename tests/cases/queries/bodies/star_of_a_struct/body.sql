SELECT id, s.* FROM flights
