"""Routes of schema-repo's dialect and of the proposal AVRO-1124."""
