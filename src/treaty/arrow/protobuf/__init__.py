"""Decodes Protobuf frames to Arrow: by columns where that is safe, else row by row with Protobuf's runtime."""
