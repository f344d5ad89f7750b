SELECT carrier, max(struct(ts, id)) AS latest FROM flights GROUP BY carrier
