SELECT f.id, c.nm AS name FROM STREAM flights AS f LEFT JOIN carriers AS c ON f.carrier = c.code
