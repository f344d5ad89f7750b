SELECT id, EXTRACT(WEEK FROM ts) AS w, ts + INTERVAL '1-2' YEAR TO MONTH AS y, timestampadd(HOUR, 3, ts) AS h FROM flights
