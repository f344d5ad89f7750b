"""Bad rows of sources decoded again, and appended to the tables and topics of the queries that left them out."""
