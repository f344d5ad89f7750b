SELECT f.id FROM STREAM flights AS f LEFT SEMI JOIN carriers AS c ON f.carrier = c.code
