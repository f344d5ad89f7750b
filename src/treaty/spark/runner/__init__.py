"""The runner: queries of the metastore carried out by Spark."""
