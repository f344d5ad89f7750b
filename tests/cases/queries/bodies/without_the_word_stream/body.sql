SELECT id, gate FROM gates
