"""ksqlDB's REST interface over the metastore, for the statements that both have."""
