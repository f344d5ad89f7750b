"""Who is asking: passwords, bearer tokens and certificates, and what those who were let in may ask."""
