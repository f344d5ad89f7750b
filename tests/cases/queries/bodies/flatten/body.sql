SELECT id, part.x AS x FROM STREAM flights LATERAL VIEW explode(arr) AS part
