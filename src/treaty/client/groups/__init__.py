"""Groups as Pravega's programs write and read them: payloads behind an encoding id, packed by codecs."""
