"""Rows to registry frames: encode plans as Spark columns, in batch or streaming, classic or Connect."""
