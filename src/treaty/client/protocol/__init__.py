"""The sans-I/O HTTP protocol of the client: choice of nodes, retries, and fallbacks for other servers."""
