SELECT window.start AS start, gate, count(*) AS n FROM STREAM gates GROUP BY window(ts, '1 hour'), gate
