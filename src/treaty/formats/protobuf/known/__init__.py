"""Files that every Protobuf schema may import without a reference."""
