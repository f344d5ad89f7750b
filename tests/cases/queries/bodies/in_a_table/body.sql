SELECT id FROM STREAM flights WHERE carrier IN (SELECT code FROM carriers WHERE n > 1)
