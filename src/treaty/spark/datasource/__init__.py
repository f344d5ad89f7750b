"""The data source ``treaty``: decoded rows of topics and files by `spark.read`, `spark.readStream` and SQL alone."""
