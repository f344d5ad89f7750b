"""Tags of JSON Schemas: the member ``confluent:tags`` of objects and properties."""
