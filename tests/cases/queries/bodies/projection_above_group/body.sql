SELECT carrier AS code, total / n AS mean FROM (SELECT carrier, sum(delay) AS total, count(*) AS n FROM STREAM flights GROUP BY carrier)
