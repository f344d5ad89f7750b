"""The real Kafka: one partition of a topic, through librdkafka."""
