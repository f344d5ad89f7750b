"""Can data written with one Protobuf schema be read with another: the rules as rows, and the comparison."""
