SELECT id, r'a\b' AS x, "double" AS y, 'a''b' AS z, 'tab\t;' AS w, 'SELECT * FROM STREAM x' AS `STREAM` FROM STREAM flights
