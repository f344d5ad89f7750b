SELECT id FROM ((SELECT id FROM flights) UNION ALL (SELECT id FROM gates)) WHERE id > 1
