"""Bodies of queries planned by Spark: what a query reads, what comes out, and what state it keeps, before anything runs."""
