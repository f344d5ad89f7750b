SELECT carrier, s.b AS airport, sum(delay) AS total FROM STREAM flights GROUP BY carrier, s.b
