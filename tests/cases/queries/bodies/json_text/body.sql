SELECT id, get_json_object(carrier, '$.code') AS code, from_json(carrier, 'code STRING, n INT').n AS n, to_json(s) AS s FROM STREAM flights
