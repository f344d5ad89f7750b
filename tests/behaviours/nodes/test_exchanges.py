"""What nodes send each other arrives late, in pieces, or in part: nothing is lost, sent twice or given to another command."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from tests.behaviours.nodes.lives import post, virtual
from treaty.client.peer_transport import read_lines
from treaty.core.command import Command
from treaty.node import peer_batches
from treaty.node.peer_batches import PeerBatcher, answer_batch
from treaty.wire.peer.batch import KnownAccess, decode_batch, encode_replies
from treaty.wire.peer.message import (
    DeclinedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    PeerUnreachableError,
    SequenceExceededReply,
)


def forwarded(number: int) -> ForwardedCommand:
    """A command whose id is a number."""
    return ForwardedCommand(Command(post(f"s{number}"), str(number), 0), 30.0, 40)


def reply_to(number: int) -> ForwardReply:
    """The reply to the command of a number, and to no other."""
    return NotLeaderReply(f"n{number}") if number % 3 else FailedReply(f"f{number}")


# ------------------------------------------------------------------------------------------------------- answering


@virtual
async def test_each_command_of_a_batch_is_answered_once_however_long_replies_take_to_send() -> None:
    """Decisions end in any order, some at one time; sending a reply takes longer than deciding the next ones, or not."""
    for seed in range(40):
        chance = random.Random(seed)
        count = chance.randint(1, 12)
        ends = [chance.choice([0.0, 1.0, chance.random() * 5]) for _ in range(count)]
        pace = chance.choice([0.0, 0.3, 3.0, 20.0])
        declined = {place for place in range(count) if chance.random() < 0.2}
        sent: list[tuple[int, ForwardReply]] = []

        async def take(command: ForwardedCommand, ends: list[float] = ends) -> ForwardReply:
            await asyncio.sleep(ends[int(command.command.command_id)])
            return reply_to(int(command.command.command_id))

        async def send(
            replies: Sequence[tuple[int, ForwardReply]], sent: list[tuple[int, ForwardReply]] = sent, pace: float = pace
        ) -> None:
            sent += replies
            await asyncio.sleep(pace)

        batch = [DeclinedReply(f"d{place}") if place in declined else forwarded(place) for place in range(count)]
        await answer_batch(batch, take, send)
        expected = {place: batch[place] if place in declined else reply_to(place) for place in range(count)}
        assert Counter(place for place, _ in sent) == Counter(range(count)), seed
        assert dict(sent) == expected, seed


# --------------------------------------------------------------------------------------------------------- sending


class Peer:
    """A transport whose other end answers as a function says: lines, after seconds; then the answer ends."""

    def __init__(self, answers: Callable[[list[int]], list[tuple[float, list[int]]]]) -> None:
        self.answers = answers
        self.batches: list[list[int]] = []
        self.under_way = 0
        self.most = 0

    async def send(
        self, address: str, body: bytes, take_line: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        batch = [each for each in decode_batch(body, KnownAccess()) if isinstance(each, ForwardedCommand)]
        numbers = [int(each.command.command_id) for each in batch]
        self.batches.append(numbers)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            for seconds, places in self.answers(numbers):
                await asyncio.sleep(seconds)
                lines = encode_replies([(place, reply_to(numbers[place])) for place in places])
                for line in lines.splitlines():
                    take_line(line)
        finally:
            self.under_way -= 1

    def request_id(self) -> str:
        return ""

    async def close(self) -> None:
        pass


async def ask_all(peer: Peer, count: int) -> list[ForwardReply | BaseException]:
    """Send commands 0 to `count`, a few at a time; return what came of each."""
    batcher = PeerBatcher(peer)
    waiting = []
    for number in range(count):
        waiting.append((await batcher.add("b", forwarded(number), 30.0)).reply)
        if number % 3 == 2:
            await asyncio.sleep(0.01)
    replies = await asyncio.gather(*waiting, return_exceptions=True)
    await batcher.close()
    return replies


@virtual
async def test_replies_in_any_order_go_to_their_commands() -> None:
    for seed in range(20):
        chance = random.Random(seed)

        def shuffled(numbers: list[int], chance: random.Random = chance) -> list[tuple[float, list[int]]]:
            places = chance.sample(range(len(numbers)), len(numbers))
            return [(chance.random(), [place]) for place in places]

        assert await ask_all(Peer(shuffled), 20) == [reply_to(number) for number in range(20)]


@virtual
async def test_an_answer_that_ends_early_leaves_the_rest_open() -> None:
    """An answer that was cut off and ends without a word: what is not in it may be done all the same."""
    peer = Peer(lambda numbers: [(0.1, [place for place in range(len(numbers)) if place % 2])])
    replies = await ask_all(peer, 9)
    lost = [each for each in replies if isinstance(each, PeerUnreachableError)]
    assert len(lost) == sum((len(batch) + 1) // 2 for batch in peer.batches)
    assert all(each.left for each in lost)


@virtual
async def test_each_command_travels_once_and_few_batches_at_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, requests in ((1, 1), (2, 1), (3, 2), (256, 16)):
        monkeypatch.setattr(peer_batches, "PEER_BATCH", most)
        monkeypatch.setattr(peer_batches, "PEER_REQUESTS", requests)
        peer = Peer(lambda numbers: [(0.5, list(range(len(numbers))))])
        assert await ask_all(peer, 20) == [reply_to(number) for number in range(20)]
        assert Counter(number for batch in peer.batches for number in batch) == Counter(range(20))
        assert max(map(len, peer.batches)) <= most
        assert peer.most <= requests


# --------------------------------------------------------------------------------------------------------- reading

LINES = encode_replies([(0, SequenceExceededReply())]) + encode_replies(
    [(1, NotLeaderReply("ü")), (2, FailedReply("x"))]
)


@virtual
async def test_an_answer_is_read_line_by_line_wherever_it_is_parted_or_cut_off() -> None:
    for end in range(len(LINES) + 1):
        for size in (1, 7, len(LINES)):
            lines: list[bytes] = []

            async def pieces(end: int = end, size: int = size) -> AsyncIterator[bytes]:
                for begin in range(0, end, size):
                    yield LINES[begin : min(begin + size, end)]

            await read_lines("b", pieces(), lines.append)
            assert lines == LINES[:end].split(b"\n")[:-1]
