"""Protobuf frames to Arrow: whole columns at once where that is safe, row by row by Protobuf's runtime where not."""
