SELECT v:a.b[0]::int AS x, id FROM (SELECT id, parse_json(carrier) AS v FROM flights)
