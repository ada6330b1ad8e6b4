"""Tests the reader of answers with random framings, cut into random pieces."""

import os
import random
import unittest

from erp_proxy import _blocking, _http

SEED = int(os.environ.get("SEED", random.randrange(2**32)))


class Pieces:
    """A connection that gives pieces of bytes and then ends."""

    def __init__(self, pieces):
        self._pieces = list(pieces)
        self.is_closed = False

    async def read(self, deadline):
        return self._pieces.pop(0) if self._pieces else b""

    async def write(self, data, deadline):
        raise AssertionError("nothing is written")

    def is_stale(self):
        return False

    def close(self):
        self.is_closed = True


def make_answer(chance):
    """A body and its answer, whose end can be told from its bytes."""
    body = chance.randbytes(chance.choice([0, 1, 10, 1000, 100_000]))
    early = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * chance.randrange(2)
    head = early + b"HTTP/1.1 200 OK\r\n"
    if chance.random() < 0.5:
        return body, head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunks, at = [], 0
    while at < len(body):
        part = body[at : at + chance.choice([1, 7, 500, 70_000])]
        at += len(part)
        chunks.append(b"%x%s\r\n%s\r\n" % (len(part), chance.choice([b"", b";a=b"]), part))
        if len(chunks) > 3000:
            chunks.append(b"%x\r\n%s\r\n" % (len(body) - at, body[at:]) if at < len(body) else b"")
            break
    trailer = chance.choice([b"", b"x-end: 1\r\n"])
    return body, head + b"transfer-encoding: chunked\r\n\r\n" + b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"


def cut(chance, data):
    pieces = []
    while data:
        size = chance.choice([1, 2, 50, 5000, 200_000]) if len(pieces) < 500 else len(data)
        pieces.append(data[:size])
        data = data[size:]
    return pieces


def read(connections, stream):
    response = _http.Response(connections, stream)

    async def read_all():
        try:
            await response.read_head(0)
            return await response.read(0)
        finally:
            response.close()

    return _blocking.run(read_all())


class HttpTest(unittest.TestCase):
    def test_an_answer_is_read_whole_or_not_at_all_however_it_arrives(self):
        chance = random.Random(SEED)
        connections = _http.Connections(_blocking.BlockingNetwork(), _http.Origin("http", "x", 80), None)
        for turn in range(400):
            with self.subTest(seed=SEED, turn=turn):
                body, data = make_answer(chance)
                whole = Pieces(cut(chance, data))
                self.assertEqual(read(connections, whole), body)
                self.assertFalse(whole.is_closed)
                broken = Pieces(cut(chance, data[: chance.randrange(len(data))]))
                with self.assertRaises(_http.WrongAnswer):
                    read(connections, broken)
                self.assertTrue(broken.is_closed)
                surplus = Pieces([data + b"x"])
                self.assertEqual(read(connections, surplus), body)
                self.assertTrue(surplus.is_closed)
        self.assertEqual(len(connections._idle), _http.IDLE_CONNECTIONS_MAX)
        connections.close()
        self.assertEqual(connections._idle, [])


if __name__ == "__main__":
    unittest.main()
