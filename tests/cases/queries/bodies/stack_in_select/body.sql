SELECT id, stack(2, 'a', delay, 'b', delay + 1) AS (k, v) FROM flights
