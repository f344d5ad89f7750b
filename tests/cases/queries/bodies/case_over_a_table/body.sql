WITH c AS (SELECT * FROM carriers) SELECT code, CASE WHEN n > 1 THEN nm END AS nm FROM c WHERE nm LIKE 'A%'
