SELECT id, k, v FROM flights LATERAL VIEW OUTER explode(m) AS k, v
