"""Who is connected: addresses, connections and their bounds, and the hosts that a request may be meant for."""
