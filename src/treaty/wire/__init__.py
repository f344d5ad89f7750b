"""Wire formats of the dialects, for both directions: servers and clients read and print messages by these modules."""
