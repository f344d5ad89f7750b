SELECT id FROM flights WHERE carrier NOT IN (SELECT code FROM carriers)
