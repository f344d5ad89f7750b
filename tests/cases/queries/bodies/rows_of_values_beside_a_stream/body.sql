SELECT f.id, v.col1, v.col2 FROM flights f, (VALUES (1, 'a'), (2, NULL)) AS v
