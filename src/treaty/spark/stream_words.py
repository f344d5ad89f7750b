"""The words STREAM in the body of a query become blanks, so that a query over streams runs as a batch: for plans, runs once, tests, replays and comparisons."""

import json

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from treaty.core.column_types.tokens import SqlToken, split_tokens


def blank_streams(spark: SparkSession, body: str) -> str:
    """Return a body whose words STREAM before a source are blanks; its length is the same.

    Each word STREAM is taken away alone: it stood before a source if the parsed query then has a streaming relation less. Raises what Spark
    raises for a body that can't be parsed.
    """
    parser = spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001

    def count_streams(text: str) -> int:
        return json.dumps(json.loads(parser.parseQuery(text).toJSON())).count('"isStreaming": true')

    streams = count_streams(body)
    tokens = split_tokens(body)
    for at, token in enumerate(tokens[:-1]):
        if streams and _may_be_stream(token, tokens[at + 1]):
            blanked = f"{body[: token.start]}{' ' * len(token.text)}{body[token.end :]}"
            try:
                streams_left = count_streams(blanked)
            except PySparkException:  # the word was needed
                streams_left = streams
            if streams_left == streams - 1:
                body, streams = blanked, streams_left
    return body


def _may_be_stream(token: SqlToken, after: SqlToken) -> bool:
    return token.keyword == "STREAM" and (after.kind in {"word", "quoted"} or after.text == "(")
