"""A log in one partition of a Kafka topic: `any` node appends, or one `owner` does."""
