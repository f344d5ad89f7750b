"""The handlers, a file for each kind of request; `treaty.core.decide` calls them."""
