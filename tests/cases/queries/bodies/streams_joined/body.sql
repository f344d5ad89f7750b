SELECT f.id, f.carrier, g.gate FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE AS f JOIN STREAM gates AS g ON f.id = g.id AND g.ts BETWEEN f.ts AND f.ts + INTERVAL 1 HOUR
