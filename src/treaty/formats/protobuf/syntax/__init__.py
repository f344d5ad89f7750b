"""Protobuf text to model: tokens, literals, declarations."""
