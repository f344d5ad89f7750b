SELECT carrier, listagg(s.b, ',') WITHIN GROUP (ORDER BY s.b) AS texts, mode() WITHIN GROUP (ORDER BY delay) AS usual FROM flights GROUP BY carrier
