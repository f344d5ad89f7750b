"""ksqlDB's command topic: its records as sources and types, as statements of SQL, and as a report of what was taken."""
