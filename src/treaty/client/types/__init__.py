"""Python classes and schemas: a schema derived from a class, values of the class out of records, a class from a schema."""
