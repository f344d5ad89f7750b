"""Can a JSON Schema read what another one allowed: the established rules, and a proof where these say yes."""
