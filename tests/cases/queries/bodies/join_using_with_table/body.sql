SELECT id, nm FROM flights JOIN (SELECT code AS carrier, nm FROM carriers) USING (carrier)
