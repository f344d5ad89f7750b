"""A passage between clients and a server on loopback, in which the network's troubles can be made."""

import socket
import threading
from contextlib import suppress


class Passage:
    """Listens on `port`, and brings each connection to the port that is the `target` when it is made."""

    def __init__(self, target: int) -> None:
        self.target = target
        self._stranded = 0
        """Connections made before the last `strand` have a lower number than this."""
        self._made = 0
        self._open: list[socket.socket] = []
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def strand(self) -> None:
        """Leave all connections as they are, and carry nothing on them any more: as where a machine is gone without a word."""
        self._stranded = self._made

    def close(self) -> None:
        """Stop listening and end all connections."""
        for one in (self._door, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                self._open += [client, server]
                number, self._made = self._made, self._made + 1
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(*ends, number), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, number: int) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if number >= self._stranded:
                    sink.sendall(data)
        if number >= self._stranded:
            with suppress(OSError):
                sink.shutdown(socket.SHUT_WR)
