SELECT id, carrier, delay FROM STREAM flights WHERE delay > 15
