"""Routes of Confluent's REST dialect, at the root of the server."""
