SELECT f.id, g.gate FROM STREAM flights AS f JOIN STREAM gates AS g ON f.id = g.id
