SELECT id, carrier, delay FROM STREAM flights
