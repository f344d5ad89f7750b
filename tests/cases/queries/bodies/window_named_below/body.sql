SELECT w.start AS st, count(*) AS n FROM (SELECT window(ts, '1 minute') AS w, gate FROM gates) GROUP BY w
