"""For tests of programs that use Treaty: a registry in the test's own process, and fixtures of pytest for it."""
