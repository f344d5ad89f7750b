"""A stream of frames from files into two Delta tables that grow with the schema: python spark_stream.py IN OUT URL SUBJECT.

IN is a folder of Parquet files with a binary column ``value``, OUT the folder for the tables and the checkpoint, URL a
registry such as http://127.0.0.1:8081. Run it again, after a crash too: every row is in one table, once.
"""

import sys

from treaty.assemble import connect
from treaty.spark import Pipeline, Step, session, start


def tell(step: Step) -> None:
    """Say what a batch has just done."""
    print(f"batch {step.batch}: {step.name} {dict(step.counts)}")


def main(folder: str, target: str, url: str, subject: str) -> None:
    """Run the stream over all files that are there."""
    spark = session()
    source = spark.readStream.schema("value BINARY").parquet(folder)
    pipeline = Pipeline(subject, good=f"{target}/good", bad=f"{target}/bad", checkpoint=f"{target}/checkpoint")
    with connect(url) as registry:
        start(pipeline, source, registry, watch=tell, available=True).awaitTermination()
    for name in ("good", "bad"):
        spark.read.format("delta").load(f"{target}/{name}").show(5)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:5])
