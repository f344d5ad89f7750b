SELECT id, arr.x AS xs, size(arr) AS n, m['k'] AS k FROM STREAM flights
