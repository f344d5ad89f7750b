"""Settings of librdkafka are read from the command line: ``name=value``, or a properties file."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from treaty.core.kafka import (
    SCHEME,
    SERVERS,
    KafkaCluster,
    KafkaSettingsError,
    parse_kafka_url,
    read_properties,
    translate_setting,
)
from treaty.core.schema import Pairs


def parse_settings(words: Iterable[str], option: str) -> Pairs:
    """Parse arguments to settings, in their order; `option` is the name in messages. Raises `KafkaSettingsError`."""
    return tuple(pair for word in words for pair in _pairs(word, option))


def parse_cluster(text: str, words: Iterable[str] = ()) -> tuple[KafkaCluster, str]:
    """Return cluster and topic of a URL and arguments of ``--kafka-config``. Raises `KafkaSettingsError`."""
    return parse_kafka_url(text, parse_settings(words, "--kafka-config"))


def parse_named_clusters(words: Iterable[str]) -> dict[str, KafkaCluster]:
    """Return clusters by name from arguments of ``--cluster``: ``NAME=FILE`` with a properties file, or ``NAME=kafka://host:port``.

    Raises `KafkaSettingsError`.
    """
    clusters: dict[str, KafkaCluster] = {}
    for word in words:
        name, mark, where = word.partition("=")
        if not mark or not name.strip() or not where:
            raise KafkaSettingsError(f"{word!r} names no cluster; expected NAME=FILE, a properties file with {SERVERS}")
        if name in clusters:
            raise KafkaSettingsError(f"the cluster {name} is named twice; name it once")
        if where.startswith(SCHEME):
            clusters[name] = parse_kafka_url(where)[0]
        else:
            clusters[name] = parse_kafka_url("", _pairs(where, "--cluster"))[0]
    return clusters


def _pairs(word: str, option: str) -> Iterator[tuple[str, str]]:
    name, mark, value = word.partition("=")
    if mark:
        yield from translate_setting(name.strip(), value.strip(), option)
        return
    try:
        text = Path(word).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaSettingsError(
            f"{word!r} is neither name=value nor a properties file: {getattr(error, 'strerror', None) or 'not UTF-8'}"
        ) from error
    yield from read_properties(text, word)
