"""Tags of Protobuf schemas: the options ``(confluent.message_meta).tags`` and ``(confluent.field_meta).tags``."""
