SELECT id, k, v FROM flights UNPIVOT (v FOR k IN (delay, n))
