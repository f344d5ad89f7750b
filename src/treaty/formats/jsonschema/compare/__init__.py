"""Compatibility of JSON Schemas: Confluent's rules, and a proof where these find nothing."""
