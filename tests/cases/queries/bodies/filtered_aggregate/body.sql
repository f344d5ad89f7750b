SELECT carrier, count(*) FILTER (WHERE delay > 15) AS late FROM STREAM flights WHERE carrier IS NOT NULL GROUP BY carrier
