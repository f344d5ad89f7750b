"""Aliases and answers from memory: a server that was told of another alias never gives the old one's answer again."""

import http.client
import json
from pathlib import Path

from tests.real.running import serving


def test_an_answer_from_memory_ends_with_the_alias_that_it_followed(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with serving(tmp_path, "--log", url) as server, serving(tmp_path, "--log", url) as other:
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        away = http.client.HTTPConnection("127.0.0.1", other.port, timeout=30)

        def ask(to: http.client.HTTPConnection, method: str, path: str, body: object = None) -> dict[str, object]:
            sent = None if body is None else json.dumps(body)
            to.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
            answer: dict[str, object] = json.loads(to.getresponse().read())
            return answer

        def hits() -> int:
            told = server.text("/metrics")
            return int(
                float(
                    next(line for line in told.splitlines() if line.startswith("treaty_response_cache_hits")).split()[
                        -1
                    ]
                )
            )

        for name in ("a", "b"):
            ask(kept, "POST", f"/subjects/{name}/versions", {"schema": '"int"'})
        ask(kept, "PUT", "/config/nick", {"alias": "a"})
        before = hits()
        for _ in range(3):
            assert ask(kept, "GET", "/subjects/nick/versions/1")["subject"] == "a"
        assert hits() > before, "the last ones came from memory"
        ask(kept, "PUT", "/config/nick", {"alias": "b"})
        assert ask(kept, "GET", "/subjects/nick/versions/1")["subject"] == "b"
        ask(away, "PUT", "/config/nick", {"alias": "a"})
        assert ask(kept, "GET", "/subjects/nick/versions/1?consistency=latest")["subject"] == "a"
        assert ask(kept, "GET", "/subjects/nick/versions/1")["subject"] == "a"
        kept.close()
        away.close()
