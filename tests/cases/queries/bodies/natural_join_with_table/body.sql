SELECT f.id, nm FROM flights AS f NATURAL JOIN (SELECT code AS carrier, nm FROM carriers)
