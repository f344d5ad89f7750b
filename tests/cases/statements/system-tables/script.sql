SELECT * FROM treaty.sources;
select name, kind from Treaty.Sources where kind = 'STREAM' and name like 'ord%' order by name desc, kind limit 10;
SELECT `limit` FROM treaty.queries WHERE paused = TRUE AND revision = 3;
