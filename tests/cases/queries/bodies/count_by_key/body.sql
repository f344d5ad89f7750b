SELECT carrier, count(*) AS flights FROM STREAM flights GROUP BY carrier
