SELECT gate, count(*) AS n FROM STREAM gates GROUP BY gate
