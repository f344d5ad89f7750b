SELECT id FROM flights WHERE (carrier, delay) IN (SELECT code, n FROM carriers)
