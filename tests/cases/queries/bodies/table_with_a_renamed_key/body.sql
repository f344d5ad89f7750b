SELECT code AS carrier, n + 1 AS n FROM carriers
