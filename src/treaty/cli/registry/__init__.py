"""Commands for the objects of a registry, one module each."""
