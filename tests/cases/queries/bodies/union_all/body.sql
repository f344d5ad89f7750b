SELECT id, carrier AS name FROM STREAM flights UNION ALL SELECT id, gate FROM STREAM gates
