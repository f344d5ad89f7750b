"""Access to one partition of a topic by librdkafka."""
