SELECT g.id FROM flights JOIN gates AS g ON flights.id = g.id AND g.ts = flights.ts
