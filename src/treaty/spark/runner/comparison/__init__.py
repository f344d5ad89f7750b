"""EXPLAIN REPLACE COMPARE: two queries run over the same recorded records, and how their rows differ."""
