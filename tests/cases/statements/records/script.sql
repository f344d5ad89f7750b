INSERT INTO a VALUES (1, -2L, 1.50, 1e3, 5BD, 'it''s', "b", r'\', TRUE, NULL, X'00ff', DATE '2026-01-31', TIMESTAMP '2026-01-31 00:00:00');
INSERT INTO a (id, `b c`) VALUES (1, ARRAY[1, 2]), (2, ARRAY(MAP('a' := 1, 'b', 2), STRUCT(x := NAMED_STRUCT('y', NULL))));
INSERT INTO a VALUES ('k', NULL) AS DELETE;
UPDATE a SET x = 1, y = 'b' WHERE id = 1 AND part = 2; DELETE FROM a WHERE id = 'k';
