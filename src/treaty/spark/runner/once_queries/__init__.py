"""INSERT INTO ONCE: queries that are run once into a source."""
