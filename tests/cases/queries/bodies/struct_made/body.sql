SELECT id, named_struct('carrier', carrier, 'delay', delay) AS flight, array(delay, 0) AS delays, map(carrier, delay) AS by_carrier FROM STREAM flights
