SELECT carrier, max(delay) AS most FROM STREAM flights GROUP BY ALL
