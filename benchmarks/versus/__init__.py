"""Two checkouts side by side: what the same work costs before a change and after it."""
