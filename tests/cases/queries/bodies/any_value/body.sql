SELECT carrier, any_value(s) AS st, first(delay) AS f, collect_list(arr) AS c FROM flights GROUP BY carrier
