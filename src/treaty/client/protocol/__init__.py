"""The conversation with a registry over HTTP: which node is asked, when again, and what is asked instead."""
