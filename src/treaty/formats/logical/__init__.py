"""Confluent's Logical Types: a schema written as the columns of SQL, which every format here can be turned into."""
