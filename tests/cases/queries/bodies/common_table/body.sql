WITH late AS (SELECT * FROM STREAM flights WHERE delay > 15) SELECT id, carrier FROM late WHERE carrier IS NOT NULL
