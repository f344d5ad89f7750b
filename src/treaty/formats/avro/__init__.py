"""Avro: schema model, strict parser, canonical texts, fingerprints and compatibility, as the Java library has them."""
