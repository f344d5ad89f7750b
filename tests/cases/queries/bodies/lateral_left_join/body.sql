SELECT id, x FROM flights LEFT JOIN LATERAL explode(array(1, 2)) AS t(x) ON x = delay
