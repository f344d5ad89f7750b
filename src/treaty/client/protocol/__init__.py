"""The HTTP protocol of the client: choice of nodes, retries, and fallbacks for other servers, sans I/O; `HttpTransport` runs it."""
