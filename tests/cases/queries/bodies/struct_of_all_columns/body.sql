SELECT id, struct(*) AS row FROM gates
