"""`RecordSender`: the producer without transactions, and the thread that receives its delivery reports."""

import asyncio
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from treaty.core.kafka import KafkaCluster, LastBrokerError
from treaty.log.kafka.broker.library import (
    LIBRARY_LOGGER,
    end_clients,
    make_producer_settings,
    make_unavailable_error,
    purge_producer,
)
from treaty.log.log import LogUnavailableError

SEND_SECONDS = 10.0
"""How long a record is tried, a change of the partition's leader included; then its result is unknown."""
POLL_SECONDS = 0.25
"""How long the thread waits for news before it looks whether it should end."""
_NEVER_SENT = frozenset({"_MSG_SIZE_TOO_LARGE", "MSG_SIZE_TOO_LARGE", "_QUEUE_FULL", "_INVALID_ARG", "INVALID_RECORD"})
"""Errors that the library reports before it sends a record, or a broker at every attempt."""


class RecordSender:
    """Sends records one after the other. After a fatal error of the library another producer takes over."""

    def __init__(self, cluster: KafkaCluster, topic: str, where: str) -> None:
        """Start the producer, which asks for its id at once, so that the first record need not wait for that."""
        self._cluster, self._topic, self._where = cluster, topic, where
        self._loop = asyncio.get_running_loop()
        self._heard = LastBrokerError()
        self._unacknowledged: dict[asyncio.Future[int | None], Any] = {}
        """What is on its way, and the producer that sends it."""
        self._closed = False
        self._producer = self._make_producer()
        self._thread = threading.Thread(target=self._poll_loop, name="treaty log, sending", daemon=True)
        self._thread.start()

    def _make_producer(self) -> Any:
        own: dict[str, object] = {"delivery.timeout.ms": int(SEND_SECONDS * 1000), "error_cb": self._heard}
        return Producer(make_producer_settings(self._cluster, own), logger=LIBRARY_LOGGER)

    def _poll_loop(self) -> None:
        while not self._closed:
            producer = self._producer
            try:
                producer.poll(POLL_SECONDS)
            except (KafkaException, SystemError):  # a fatal error, alone or while a delivery was reported
                with suppress(RuntimeError):  # the loop is gone, and with it everybody who could listen
                    self._loop.call_soon_threadsafe(self._replace_producer, producer)
                time.sleep(POLL_SECONDS)

    async def send(self, value: bytes, key: bytes | None, headers: Sequence[tuple[str, bytes]]) -> int | None:
        """Produce a record; its offset, or None where that is not known what became of it."""
        if self._closed:
            raise LogUnavailableError("this log was closed")
        outcome: asyncio.Future[int | None] = self._loop.create_future()
        producer = self._producer

        def on_delivery(error: Any, message: Any) -> None:
            offset = message.offset() if error is None else None
            self._deliver(outcome, producer, error, offset)

        try:
            producer.produce(self._topic, value, key, partition=0, headers=list(headers), on_delivery=on_delivery)
        except BufferError as full:
            raise LogUnavailableError(f"{self._where}: too many records wait to be sent; try again") from full
        except KafkaException as error:
            if error.args[0].fatal():
                self._replace_producer(producer)
            raise make_unavailable_error(error.args[0], self._where, self._heard) from error
        self._unacknowledged[outcome] = producer
        outcome.add_done_callback(lambda future: self._unacknowledged.pop(future, None))
        return await outcome

    def _deliver(self, outcome: "asyncio.Future[int | None]", producer: Any, error: Any, offset: int | None) -> None:
        """Called in the thread: hand the news to the loop."""

        def settle() -> None:
            if error is not None and (error.fatal() or error.code() == KafkaError._FATAL):  # noqa: SLF001 (its name)
                self._replace_producer(producer)
            if outcome.done():
                return
            if error is not None and error.name() in _NEVER_SENT:
                outcome.set_exception(make_unavailable_error(error, self._where, self._heard))
            else:
                outcome.set_result(offset)

        with suppress(RuntimeError):  # the loop is gone, and with it everybody who could listen
            self._loop.call_soon_threadsafe(settle)

    def _replace_producer(self, producer: Any) -> None:
        """Take another producer for one that can't continue; the results of what it had are unknown."""
        if producer is self._producer:
            self._producer = self._make_producer()
            for outcome in [future for future, sender in self._unacknowledged.items() if sender is producer]:
                if not outcome.done():
                    outcome.set_result(None)
            self._loop.run_in_executor(None, purge_producer, producer)

    async def close(self) -> None:
        """Wait for what is on its way, as long as that may take; end the thread and the producer."""
        if self._unacknowledged and not self._closed:
            await asyncio.wait(self._unacknowledged, timeout=SEND_SECONDS + 1)
        self._closed = True
        await asyncio.to_thread(self._thread.join)
        if self._producer is not None:
            await asyncio.to_thread(purge_producer, self._producer)
        clients, self._producer = [self._producer], None
        await end_clients(clients)
