SELECT f.id, v.name FROM STREAM flights AS f JOIN VALUES ('AA', 'American'), ('DL', 'Delta') AS v(code, name) ON f.carrier = v.code
