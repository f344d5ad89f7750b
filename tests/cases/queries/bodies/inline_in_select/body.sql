SELECT id, inline(arr) FROM flights
