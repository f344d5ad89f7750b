SELECT id, date_trunc('HOUR', ts) AS hour, date_format(ts, 'yyyy-MM-dd') AS day, ts + INTERVAL 1 HOUR AS later, unix_timestamp(ts) AS seconds FROM STREAM flights
