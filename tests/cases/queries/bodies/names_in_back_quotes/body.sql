SELECT id AS `the id`, `first name` AS `select` FROM STREAM `odd names`
