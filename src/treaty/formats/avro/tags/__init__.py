"""Tags of Avro schemas: the member ``confluent:tags`` of records and fields."""
