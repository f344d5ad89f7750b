SELECT id, map_from_entries(transform(arr, (e, i) -> struct(i, e.x))) AS x FROM flights
