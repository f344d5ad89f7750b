SELECT id FROM flights f WHERE NOT EXISTS (SELECT 1 FROM carriers c WHERE c.code = f.carrier)
