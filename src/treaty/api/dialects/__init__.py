"""What all dialects of HTTP share: routes with their descriptions, exchanges, and the application that runs a dialect."""
