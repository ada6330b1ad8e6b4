"""Tests of the client that need no proxy: servers of these tests answer byte by byte what a test says."""

import asyncio
import contextlib
import datetime
import gc
import inspect
import os
import pickle
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import erp_proxy
from erp_proxy import _http, _send

KEY = "ep_secret_of_the_test"
COUNT = b'{"jsonrpc":"2.0","id":null,"result":5}'


def answer(body, head=b"", status=b"200 OK"):
    return b"HTTP/1.1 %s\r\n%scontent-length: %d\r\n\r\n%s" % (status, head, len(body), body)


class Server:
    """A server with a thread for each connection. `serve` is called with the connection and the head of a request."""

    def __init__(self, serve):
        self._serve = serve
        self.requests = []
        self.connections = 0
        #: Set when the other side has closed a connection.
        self.closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection):
        with contextlib.suppress(OSError), connection:
            file = connection.makefile("rb")
            while True:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = file.readline()
                    if not line:
                        self.closed.set()
                        return
                    head += line
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append((head, file.read(length)))
                if self._serve(connection, head) == "close":
                    return

    def close(self):
        self._listener.close()


class Base(unittest.TestCase):
    def serve(self, serve):
        """A server that answers by a function, or always with the same bytes."""
        server = Server(serve if callable(serve) else lambda connection, _: connection.sendall(serve))
        self.addCleanup(server.close)
        return server

    def connect(self, server, **options):
        client = erp_proxy.Client(server.url, **{"key": KEY, "instance": "prod", **options})
        self.addCleanup(client.close)
        return client

    def fail_with(self, kind, call, **members):
        with self.assertRaises(erp_proxy.ErpProxyError) as caught:
            call()
        self.assertEqual(caught.exception.type, kind)
        for name, value in members.items():
            self.assertEqual(getattr(caught.exception, name), value)
        self.assertNotIn(KEY, repr(caught.exception) + str(vars(caught.exception)))
        return caught.exception


class ClientTest(Base):
    # Connections

    def test_calls_use_one_connection(self):
        server = self.serve(answer(COUNT))
        partners = self.connect(server).model("res.partner")
        self.assertEqual([partners.count(), partners.count(), partners.count()], [5, 5, 5])
        self.assertEqual(server.connections, 1)

    def test_a_connection_that_the_server_closes_is_not_used_again(self):
        for head, is_closed in [(b"connection: close\r\n", False), (b"", True)]:
            def serve(connection, _, head=head, is_closed=is_closed):
                connection.sendall(answer(COUNT, head))
                return "close" if is_closed else None

            server = self.serve(serve)
            partners = self.connect(server, retries=0).model("res.partner")
            self.assertEqual([partners.count(), partners.count()], [5, 5])
            self.assertEqual(server.connections, 2)

    def test_a_kept_connection_that_ends_under_a_read_costs_no_retry(self):
        def serve(connection, _):
            if len(server.requests) == 2:
                return "close"
            connection.sendall(answer(COUNT))
            return None

        server = self.serve(serve)
        partners = self.connect(server, retries=0).model("res.partner")
        self.assertEqual([partners.count(), partners.count()], [5, 5])
        self.assertEqual((len(server.requests), server.connections), (3, 2))

    def test_a_write_without_a_key_never_uses_a_kept_connection(self):
        server = self.serve(answer(COUNT))
        partners = self.connect(server, idempotency_keys=False).model("res.partner")
        partners.count()
        partners.create({})
        self.assertEqual(server.connections, 2)

    def test_at_most_ten_idle_connections_are_kept(self):
        gate = threading.Barrier(15)

        def serve(connection, _):
            gate.wait()
            connection.sendall(answer(COUNT))

        server = self.serve(serve)
        client = self.connect(server)
        threads = [threading.Thread(target=client.model("res.partner").count) for _ in range(15)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(server.connections, 15)
        self.assertEqual(len(client._calls.settings.connections._idle), _http.IDLE_CONNECTIONS_MAX)
        with client:
            pass
        self.assertEqual(client._calls.settings.connections._idle, [])

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_forked_process_has_connections_of_its_own(self):
        server = self.serve(answer(COUNT))
        partners = self.connect(server).model("res.partner")
        partners.count()
        with warnings.catch_warnings():
            # Python 3.12 warns of a fork beside threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os._exit(0 if partners.count() == 5 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(server.connections, 2)

    # Answers

    def test_a_slow_answer_arrives_byte_by_byte(self):
        def serve(connection, _):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in answer(COUNT):
                connection.sendall(bytes([byte]))

        self.assertEqual(self.connect(self.serve(serve)).model("res.partner").count(), 5)

    def test_wrong_answers_are_errors(self):
        cases = {
            "it is not HTTP/1.1": b"SSH-2.0-OpenSSH\r\n\r\n",
            "a header has no name": b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "its transfer coding is unknown": b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
            "its length is not a number": b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            "its head is too long": b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
            "the size of a chunk is not a number": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
            "a chunk is longer": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
            "a line between chunks is too long": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 9000,
            "its trailers are too long": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n" + b"x: y\r\n" * 20_000,
            "the connection ended": b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{",
        }
        for message, data in cases.items():
            def serve(connection, _, data=data):
                connection.sendall(data)
                return "close"

            with self.subTest(message):
                partners = self.connect(self.serve(serve), retries=0).model("res.partner")
                error = self.fail_with("connection_failed", partners.count, retryable=True)
                self.assertIn(message, str(error))

    def test_an_answer_of_deeply_nested_json_is_an_error(self):
        server = self.serve(answer(b"[" * 200_000))
        self.fail_with("invalid_answer", self.connect(server).model("res.partner").count, status=200)

    def test_a_large_file_that_is_refused_before_its_end_gives_the_answer(self):
        refused = b'{"jsonrpc":"2.0","error":{"code":-32016,"message":"Too large.","data":{"type":"payload_too_large"}}}'

        class Refusing(Server):
            def _talk(self, connection):
                with connection:
                    connection.recv(1000)
                    connection.sendall(answer(refused, b"connection: close\r\n", b"413 Too Large"))
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1_000_000):
                        pass

        server = Refusing(None)
        self.addCleanup(server.close)
        attachments = self.connect(server).model("ir.attachment")
        upload = lambda: attachments.upload("datas", bytes(8_000_000), values={"name": "x"})  # noqa: E731
        self.fail_with("payload_too_large", upload, status=413, code=-32016)

    def test_a_record_that_is_too_long_ends_an_export(self):
        chunk = b"x" * 1_000_000

        def serve(connection, _):
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n")
            while True:
                connection.sendall(chunk)

        partners = self.connect(self.serve(serve), retries=0).model("res.partner")
        error = self.fail_with("connection_failed", lambda: list(partners.export(fields=["name"])))
        self.assertIn("a record has more than", str(error))

    def test_an_export_is_not_read_ahead(self):
        sent = []

        def serve(connection, _):
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n")
            with contextlib.suppress(OSError):
                while True:
                    connection.sendall(b'{"id": 1}\n' * 10_000)
                    sent.append(100_000)
            server.closed.set()

        server = self.serve(serve)
        rows = self.connect(server).model("res.partner").export(fields=["name"])
        self.assertEqual(next(rows), {"id": 1})
        rows.close()
        self.assertTrue(server.closed.wait(60))
        # Buffers of the system hold some megabytes.
        self.assertLess(sum(sent), 20_000_000)

    def test_progress_counts_the_records_that_were_read(self):
        lines = b'{"id": 1}\n{"id": 2}\n{"id": 3}\n'
        server = self.serve(answer(lines, b"content-type: application/x-ndjson\r\n"))
        counts = []
        rows = self.connect(server).model("res.partner").export(fields=["name"], progress=counts.append)
        self.assertEqual(len(list(rows)), counts[-1])
        page = b'{"jsonrpc":"2.0","result":[{"id": 1}, {"id": 2}]}'
        pages = self.connect(self.serve(answer(page))).model("res.partner")
        counts = []
        self.assertEqual(len(list(pages.paginate(page_size=2, limit=4, progress=counts.append))), 4)
        self.assertEqual(counts, [2, 4])

    # Time limits

    def test_a_time_limit_ends_a_call(self):
        server = self.serve(lambda connection, _: None)
        partners = self.connect(server, timeout=0.05).model("res.partner")
        self.fail_with("client_timeout", partners.count, retryable=True, outcome=None)
        error = self.fail_with("client_timeout", lambda: partners.update(1, {}), retryable=True, outcome="unknown")
        self.assertIsNotNone(error.idempotency_key)
        self.assertIn(b"x-request-timeout: 1\r\n", server.requests[0][0])

    def test_a_server_that_reads_nothing_cannot_hold_an_upload(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client = erp_proxy.Client(url, key=KEY, instance="prod", timeout=0.1)
        upload = client.model("ir.attachment").upload
        self.fail_with("client_timeout", lambda: upload("datas", bytes(30_000_000), id=1))

    def test_the_wait_for_a_job_ends_with_its_time_limit_or_its_cancellation(self):
        states = [b'{"id":"a","state":"running","ended_at":null}'] * 2
        states.append(b'{"id":"a","state":"cancelled","ended_at":"2026-12-01T09:30:00.000Z"}')
        server = self.serve(lambda connection, _: connection.sendall(answer(states.pop(0))))
        job = self.connect(server).job("a")
        self.fail_with("client_timeout", lambda: job.done(timeout=0.4))
        self.fail_with("job_cancelled", job.done)
        self.assertEqual([head.split(b" ")[:2] for head, _ in server.requests], [[b"GET", b"/api/erp/jobs/a"]] * 3)

    def test_a_callback_cannot_forge_a_header(self):
        client = self.connect(self.serve(answer(COUNT)))
        call = {"action": "search_count", "model_id": "res.partner"}
        self.fail_with("usage", lambda: client.start_job(call, callback="a\r\nx-forged: 1"))
        self.fail_with("invalid_answer", lambda: client.start_job(call))
        self.fail_with("usage", lambda: client.job("a", "response"))

    def test_times_and_unknown_options_are_refused(self):
        partners = self.connect(self.serve(answer(COUNT))).model("res.partner")
        for timeout in (0, -1, float("nan"), "5", True):
            self.fail_with("usage", lambda timeout=timeout: partners.count(timeout=timeout))
        self.assertEqual(partners.count(timeout=1e12), 5)
        with self.assertRaisesRegex(TypeError, "timeot"):
            partners.count(timeot=5)

    def test_retries_are_bounded_for_all_calls_of_a_client(self):
        budget = _send.RetryBudget()
        taken = 0
        for _ in range(400):
            budget.count_call()
            taken += budget.take()
        self.assertLessEqual(taken, 10 + 40)
        self.assertGreaterEqual(taken, 40)

    # Requests

    def test_values_are_sent_as_odoo_reads_them(self):
        server = self.serve(answer(COUNT))
        partners = self.connect(server).model("res.partner")
        noon = datetime.datetime(2026, 10, 21, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        partners.create({"at": noon, "on": datetime.date(2026, 1, 31), "name": "é\u2028", "big": 2**70, "of": (1, 2)})
        body = server.requests[0][1].decode()
        self.assertIn('{"at":"2026-10-21 10:00:00","on":"2026-01-31","name":"é\u2028","big":%d,"of":[1,2]}' % 2**70, body)
        for value in (float("nan"), datetime.datetime(2026, 1, 1), object(), b"x", "\ud800", {1, 2}):
            self.fail_with("usage", lambda value=value: partners.create({"x": value}))
        self.assertEqual(len(server.requests), 1)

    def test_headers_cannot_be_forged(self):
        server = self.serve(answer(COUNT))
        seen = []

        def add(info):
            seen.append(info)
            info.headers.update({"TraceParent": "00-1", "x-proxy-api": "other", "bad": "a\r\nb: c", "b d": "x"})
            info.headers["content-length"] = "3"
            raise ValueError("a fault of a logger")

        partners = self.connect(server, hooks=erp_proxy.Hooks(on_request=add)).model("res.partner")
        for name in ("idempotency_key", "approval"):
            for value in ("a\r\nx: y", "", " x", "\x00"):
                self.fail_with("usage", lambda name=name, value=value: partners.update(1, {}, **{name: value}))
        partners.count(context={"lang": "a value"})
        head = server.requests[0][0]
        self.assertIn(b"\r\ntraceparent: 00-1\r\n", head)
        self.assertEqual(head.count(b"x-proxy-api: " + KEY.encode()), 1)
        self.assertNotIn(b"\r\nbad", head)
        self.assertNotIn(KEY, repr(seen))
        self.assertNotIn("a value", repr(seen))

    def test_hooks_see_each_attempt(self):
        answers = [answer(b"no", status=b"502 Bad Gateway"), answer(COUNT, b"server-timing: odoo;dur=1\r\n")]
        server = self.serve(lambda connection, _: connection.sendall(answers[len(server.requests) - 1]))
        events = []
        hooks = erp_proxy.Hooks(events.append, events.append, events.append)
        self.assertEqual(self.connect(server, hooks=hooks).model("res.partner").count(), 5)
        kinds = [type(event).__name__ for event in events]
        self.assertEqual(kinds, ["RequestInfo", "ResponseInfo", "RetryInfo", "RequestInfo", "ResponseInfo"])
        self.assertEqual([event.attempt for event in events], [1, 1, 1, 2, 2])
        self.assertEqual([events[1].status, events[4].status], [502, 200])
        self.assertEqual((events[4].timing, events[4].error), ("odoo;dur=1", None))
        self.assertEqual(events[0].calls, (("res.partner", "search_count"),))

    # Options of a client

    def test_wrong_options_are_refused_without_showing_secrets(self):
        def make(**options):
            return lambda: erp_proxy.Client(**{"url": "https://x", "key": KEY, "instance": "prod", **options})

        for url in ("", "x", "ftp://x", "https://", "https://u:p@x", "https://x:99999", "https://x/a b", "http://[::"):
            self.fail_with("usage", make(url=url))
        for key in ("", "two words", "é", "a\r\nb"):
            self.fail_with("usage", make(key=key))
        self.fail_with("usage", make(instance=""))
        self.fail_with("usage", make(values="other"))

    def test_the_text_of_a_client_has_no_key(self):
        instance = {"url": "https://erp.example.com", "db": "prod", "user_id": 2, "api_key": "odoo-key"}
        client = erp_proxy.Client("https://proxy.example.com:8443/erp/", key=KEY, instance=instance)
        self.assertEqual(repr(client), "Client(url='https://proxy.example.com:8443/erp', instance='https://erp.example.com')")
        self.assertNotIn(KEY, repr(client._calls.settings))
        self.assertEqual(repr(client.model("res.partner")), "Model('res.partner')")

    def test_options_come_from_the_environment(self):
        server = self.serve(answer(COUNT))
        environment = {"ERP_PROXY_URL": server.url, "ERP_PROXY_KEY": KEY, "ERP_PROXY_INSTANCE": "shop"}
        with unittest.mock.patch.dict(os.environ, environment), erp_proxy.Client() as client:
            client.model("res.partner").count()
        self.assertIn(b'"erp_instance":{"name":"shop"}', server.requests[0][1])

    def test_a_host_can_be_an_address_of_ipv6(self):
        origin = erp_proxy.Client("http://[::1]:81/", key=KEY, instance="x")._calls.settings.connections.origin
        self.assertEqual((origin.host, str(origin)), ("::1", "http://[::1]:81"))

    def test_an_error_can_be_pickled(self):
        error = erp_proxy.ErpProxyError("record_missing", "Gone.", code=200, data={"nearest": ["a"]})
        other = pickle.loads(pickle.dumps(error))
        self.assertEqual((other.type, str(other), other.code, other.nearest), ("record_missing", "Gone.", 200, ["a"]))

    def test_a_certificate_that_nobody_trusts_is_refused(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = temporary.name
        key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
        try:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                + ["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"]
                + ["-addext", "subjectAltName=DNS:localhost"],
                check=True,
                capture_output=True,
            )
        except FileNotFoundError:
            self.skipTest("needs openssl")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

        class Secure(Server):
            def _talk(self, connection):
                with contextlib.suppress(OSError):
                    super()._talk(context.wrap_socket(connection, server_side=True))

        server = Secure(lambda connection, _: connection.sendall(answer(COUNT)))
        self.addCleanup(server.close)
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        options = {"key": KEY, "instance": "prod", "retries": 0}
        error = self.fail_with("connection_failed", erp_proxy.Client(url, **options).model("x").count)
        self.assertIn("its certificate is not valid", str(error))
        self.assertEqual(server.requests, [])
        trusting = ssl.create_default_context(cafile=certificate)

        async def use_asyncio():
            with self.assertRaises(erp_proxy.ErpProxyError):
                await erp_proxy.AsyncClient(url, **options).model("x").count()
            async with erp_proxy.AsyncClient(url, ssl_context=trusting, **options) as client:
                return [await client.model("x").count(), await client.model("x").count()]

        with erp_proxy.Client(url, ssl_context=trusting, **options) as client:
            self.assertEqual([client.model("x").count(), client.model("x").count()], [5, 5])
        self.assertEqual(asyncio.run(use_asyncio()), [5, 5])
        plain = erp_proxy.Client(server.url, **options).model("x").count
        self.fail_with("connection_failed", plain)


class AsyncTest(Base):
    """The asynchronous client. Its server is the same."""

    def connect_async(self, server, **options):
        return erp_proxy.AsyncClient(server.url, **{"key": KEY, "instance": "prod", **options})

    def test_both_clients_have_the_same_methods_and_texts(self):
        def describe(face):
            methods = {}
            for name, method in vars(face).items():
                if name.startswith("__") or not callable(method):
                    continue
                parameters = inspect.signature(method).parameters.values()
                shown = [(each.name, each.kind, each.default) for each in parameters]
                methods[name.replace("aclose", "close")] = (shown, inspect.getdoc(method))
            return methods

        self.assertEqual(describe(erp_proxy.Model), describe(erp_proxy.AsyncModel))
        self.assertEqual(describe(erp_proxy.Client), describe(erp_proxy.AsyncClient))
        self.assertEqual(describe(erp_proxy.Job), describe(erp_proxy.AsyncJob))

    def test_calls_of_tasks_run_beside_each_other(self):
        gate = threading.Barrier(20)

        def serve(connection, _):
            gate.wait()
            connection.sendall(answer(COUNT))

        server = self.serve(serve)

        async def main():
            async with self.connect_async(server) as client:
                return await asyncio.gather(*(client.model("x").count() for _ in range(20)))

        self.assertEqual(asyncio.run(main()), [5] * 20)

    def test_a_client_can_be_used_by_one_loop_after_another(self):
        server = self.serve(answer(COUNT))
        client = self.connect_async(server)
        self.assertEqual(asyncio.run(client.model("x").count()), 5)
        self.assertEqual(asyncio.run(client.model("x").count()), 5)

    def test_a_cancelled_call_closes_its_connection(self):
        for wait in ("answer", "retry", "body"):
            with self.subTest(wait):
                arrived = threading.Event()

                def serve(connection, _, wait=wait, arrived=arrived):
                    if wait == "retry":
                        connection.sendall(answer(b"no", b"retry-after: 25\r\n", b"503 Busy"))
                    if wait == "body":
                        connection.sendall(answer(COUNT)[:-5])
                    arrived.set()

                server = self.serve(serve)

                async def main(server=server, arrived=arrived):
                    async with self.connect_async(server) as client:
                        task = asyncio.ensure_future(client.model("x").count())
                        while not arrived.is_set():
                            await asyncio.sleep(0)
                        for _ in range(100):
                            await asyncio.sleep(0)
                        task.cancel()
                        with self.assertRaises(asyncio.CancelledError):
                            await task
                        return [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]

                self.assertEqual(asyncio.run(main()), [])
                self.assertTrue(server.closed.wait(60))
                self.assertEqual(len(server.requests), 1)

    def test_a_cancellation_at_any_moment_is_never_lost(self):
        server = self.serve(answer(COUNT))

        async def main():
            async with self.connect_async(server) as client:
                for turns in range(60):
                    task = asyncio.ensure_future(client.model("x").count())
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    if task.cancel():
                        with self.assertRaises(asyncio.CancelledError):
                            await task
                    else:
                        self.assertEqual(await task, 5)
                self.assertEqual(await client.model("x").count(), 5)

        asyncio.run(main())

    def test_a_time_limit_ends_a_call_and_a_connection_attempt(self):
        server = self.serve(lambda connection, _: None)

        async def main():
            async with self.connect_async(server, timeout=0.05) as client:
                with self.assertRaises(erp_proxy.ErpProxyError) as caught:
                    await client.model("x").update(1, {})
                self.assertEqual((caught.exception.type, caught.exception.outcome), ("client_timeout", "unknown"))
                with self.assertRaises(erp_proxy.ErpProxyError) as caught:
                    await client.model("x").upload("datas", bytes(30_000_000), id=1)

        asyncio.run(main())

    def test_an_export_that_ends_early_closes_its_connection(self):
        def serve(connection, _):
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n")
            with contextlib.suppress(OSError):
                while True:
                    connection.sendall(b'{"id": 1}\n' * 10_000)
            server.closed.set()

        server = self.serve(serve)

        async def main():
            async with self.connect_async(server) as client:
                rows = client.model("x").export(fields=["name"])
                async for row in rows:
                    self.assertEqual(row, {"id": 1})
                    break
                await rows.aclose()
                # While the loop runs, the connection must close.
                while not server.closed.is_set():
                    await asyncio.sleep(0)

        asyncio.run(main())

    def test_nothing_is_left_open(self):
        server = self.serve(answer(COUNT))

        async def main():
            async with self.connect_async(server) as client:
                await client.model("x").count()

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            asyncio.run(main())
            with self.connect(server) as client:
                client.model("x").count()
            gc.collect()
        self.assertEqual([str(each.message) for each in caught], [])


if __name__ == "__main__":
    unittest.main()
