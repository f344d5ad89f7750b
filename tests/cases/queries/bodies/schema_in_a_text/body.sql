SELECT id, to_json(named_struct('a', ts)) AS j, from_json(carrier, 'STRUCT<a: ARRAY<INT>>') AS st FROM flights
