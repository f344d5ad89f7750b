"""Parts of a registration: what is known of it, names of versions, and versions derived from others."""
