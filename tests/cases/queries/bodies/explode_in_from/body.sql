SELECT f.id, part.x AS x FROM STREAM flights AS f, LATERAL explode(f.arr) AS t(part)
