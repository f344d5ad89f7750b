"""The log in PostgreSQL: several machines, no Kafka."""
