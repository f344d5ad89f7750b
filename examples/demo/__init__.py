"""The demo: real flights, three versions of their schema, a job that is killed once, and a proof that all rows arrived."""
