SELECT c.nm AS name, count(*) AS n FROM STREAM flights AS f JOIN carriers AS c ON f.carrier = c.code GROUP BY c.nm
