"""A real Kafka for tests: one broker in KRaft mode, on free ports of loopback, gone when the test run is."""

import base64
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType
from confluent_kafka.cimpl import NewTopic

from tests.facades.authority import Authority
from tests.servers.jars import classpath, java
from tests.servers.ports import free_ports

VERSION = "4.3.1"
SECONDS = 90.0
"""How long a start may take."""
SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_PLAINTEXT,TLS:SSL",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.secured.plain.sasl.jaas.config": (
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_ann="known only to ann";'
    ),
    "auto.create.topics.enable": "false",
    # What no rule names is allowed, so that a test may forbid one thing.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "log.retention.ms": "-1",  # tests write records of any time
    # Internal topics have one replica, and one partition to create and not fifty.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Compaction happens within seconds, on little memory.
    "log.cleaner.backoff.ms": "200",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "500",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.io.buffer.size": "262144",
    # After a kill the next start waits until the old session has run out, else 9 s.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "num.network.threads": "1",
    "num.io.threads": "2",
    "num.replica.fetchers": "1",
    "background.threads": "2",
}
COMPACTED: Mapping[str, str] = {
    "cleanup.policy": "compact",
    "segment.ms": "500",
    "segment.bytes": "1048576",
    "min.cleanable.dirty.ratio": "0.0001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "500",
    "delete.retention.ms": "0",
    "file.delete.delay.ms": "0",
}
"""Settings of a topic that is compacted within seconds, as long as records keep coming."""
JVM = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
BOUND = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15); os.execv(sys.argv[1], sys.argv[1:])"
"""On Linux: a program that is told to stop when who started it ends, however that came about."""


def broker_classpath() -> str:
    """The jars of the broker; it runs without the tools' API, which is not published for every version."""
    wanted = (f"org.apache.kafka:kafka_2.13:{VERSION}", "org.slf4j:slf4j-simple:1.7.36")
    return classpath(f"kafka-{VERSION}", wanted, ("org.apache.kafka:kafka-tools-api",))


class Kafka:
    """A broker and its data, which `stop` takes away. `seconds` says how long the first start took."""

    def __init__(self) -> None:
        self._classpath = broker_classpath()
        self.folder = Path(tempfile.mkdtemp(prefix="treaty-kafka-"))
        self.port, self._secured, self._tls, other = free_ports(4)
        self.authority = Authority(self.folder)
        self._log = self.folder / "broker.log"
        settings = {
            **SETTINGS,
            "listeners": f"{self._listeners()},CONTROLLER://127.0.0.1:{other}",
            "advertised.listeners": self._listeners(),
            "controller.quorum.voters": f"1@127.0.0.1:{other}",
            "log.dirs": str(self.folder / "data"),
            **self._certified(),
        }
        self._settings = self.folder / "server.properties"
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), "utf-8")
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        begin = time.monotonic()
        cluster = (
            "T" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22]
        )  # one that begins with - is an option
        self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._settings)).wait(SECONDS)
        self.start()
        self.seconds = time.monotonic() - begin

    def _java(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [java(), *JVM, "-cp", self._classpath, *words]
        if sys.platform == "linux":
            command = [sys.executable, "-c", BOUND, *command]
        with self._log.open("ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def _listeners(self) -> str:
        return f"PLAINTEXT://127.0.0.1:{self.port},SECURED://127.0.0.1:{self._secured},TLS://127.0.0.1:{self._tls}"

    def _certified(self) -> dict[str, str]:
        """The settings of the listener that knows who is there by their certificate."""
        certificate, key = self.authority.make("broker")
        texts = {
            "keystore.certificate.chain": certificate,
            "keystore.key": key,
            "truststore.certificates": self.authority.file,
        }
        return {
            **{f"listener.name.tls.ssl.{store}.type": "PEM" for store in ("keystore", "truststore")},
            **{f"listener.name.tls.ssl.{n}": p.read_text("ascii").replace("\n", "\\n") for n, p in texts.items()},
            "listener.name.tls.ssl.client.auth": "required",
        }

    @property
    def tls(self) -> str:
        """Where it listens for whoever has a certificate of its `authority`."""
        return f"127.0.0.1:{self._tls}"

    @property
    def secured(self) -> str:
        """Where it listens for ann, who has a password (``known only to ann``)."""
        return f"127.0.0.1:{self._secured}"

    @property
    def bootstrap(self) -> str:
        """Where it listens, as Kafka clients are told it."""
        return f"127.0.0.1:{self.port}"

    @property
    def memory(self) -> int:
        """Resident bytes of the broker; 0 where the system does not tell."""
        status = Path(f"/proc/{self.process.pid}/status")
        lines = status.read_text("ascii").splitlines() if status.exists() else []
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)

    def start(self) -> None:
        """Start the broker on its data, after `halt` or `kill` too."""
        self.process = self._java("kafka.Kafka", str(self._settings))
        end = time.monotonic() + SECONDS
        while not self._ready():
            assert self.process.poll() is None, self._log.read_text("utf-8", "replace")[-3000:]
            assert time.monotonic() < end, "Kafka does not start"
            time.sleep(0.05)

    def _ready(self) -> bool:
        """Whether the port is open and a request for metadata names the broker."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return bool(self.admin.list_topics(timeout=2).brokers)
        except (OSError, KafkaException):
            return False

    def topic(self, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None) -> str:
        """Make a topic; returns its name."""
        (made,) = self.admin.create_topics([NewTopic(name, partitions, 1, config=dict(settings or {}))]).values()
        made.result(30)
        return name

    @contextmanager
    def keeping(self, topic: str) -> Iterator[None]:
        """Have the broker refuse the deletion of a topic while the block runs; all else is allowed."""
        rules = [
            AclBinding(kind, name, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*", operation, permission)
            for kind, name in ((ResourceType.TOPIC, topic), (ResourceType.BROKER, "kafka-cluster"))
            for operation, permission in (
                (AclOperation.ALL, AclPermissionType.ALLOW),
                (AclOperation.DELETE, AclPermissionType.DENY),
            )
        ]
        for future in self.admin.create_acls(rules).values():
            future.result(30)
        try:
            yield
        finally:
            listed = [
                AclBindingFilter(
                    one.restype,
                    one.name,
                    one.resource_pattern_type,
                    one.principal,
                    one.host,
                    one.operation,
                    one.permission_type,
                )
                for one in rules
            ]
            for future in self.admin.delete_acls(listed).values():
                future.result(30)

    def settings(self, topic: str) -> dict[str, str]:
        """The settings of a topic."""
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        (asked,) = self.admin.describe_configs([resource]).values()
        return {name: entry.value for name, entry in asked.result(30).items()}

    def set(self, topic: str, name: str, value: str) -> None:
        """Change a setting of a topic."""
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        (done,) = self.admin.incremental_alter_configs([resource]).values()
        done.result(30)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        (done,) = self.admin.delete_topics([topic]).values()
        done.result(30)

    def kill(self) -> None:
        """Stop it the hard way."""
        self._end(signal.SIGKILL)

    def halt(self) -> None:
        """Stop it; its data stays."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def stop(self) -> None:
        """Stop it, and take its data away."""
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)
