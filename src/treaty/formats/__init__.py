"""Schema formats: parse, canonical text, fingerprints, references, compatibility; one frozen record each."""
