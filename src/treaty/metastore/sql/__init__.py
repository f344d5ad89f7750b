"""SQL of the metastore: texts to statements as values, errors as data, and statements to texts."""
