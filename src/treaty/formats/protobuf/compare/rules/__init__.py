"""The rules of comparing two Protobuf schemas: Confluent's, our own, and differences that do no harm."""
