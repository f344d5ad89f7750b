"""Authentication by passwords, bearer tokens and certificates, and authorization."""
