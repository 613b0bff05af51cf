"""One request, one whole answer: against real servers on this machine, with everything a network can do to an answer."""

import asyncio
import contextlib
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from groundwire.adapters import http as http_module
from groundwire.adapters.errors import Unsendable, WireError
from groundwire.adapters.http import HttpClient, HttpRequest

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LOOPBACK = frozenset({"127.0.0.1"})


@contextlib.asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A server on a free port of this machine, with one handler for every path."""
    application = web.Application()
    application.router.add_route("*", "/{tail:.*}", handler)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient(max_answer_bytes=100_000, trusted_hosts=LOOPBACK)
    yield client
    await client.aclose()


def get(url: str, **headers: str) -> HttpRequest:
    return HttpRequest("GET", url, headers)


async def fails(client: HttpClient, request: HttpRequest, timeout_s: float = 5.0) -> WireError:
    with pytest.raises(WireError) as caught:
        await client.send(request, timeout_s)
    return caught.value


async def hello(_: web.Request) -> web.Response:
    return web.json_response({"hello": "world"}, headers={"X-Kind": "a"})


async def test_a_whole_answer_with_its_headers_in_lower_case(client: HttpClient) -> None:
    async with serving(hello) as base:
        answer = await client.send(get(base), 5.0)
    assert (answer.status, answer.body, answer.headers["x-kind"]) == (200, b'{"hello": "world"}', "a")


async def test_what_is_sent_arrives_as_it_was_written(client: HttpClient) -> None:
    seen: dict[str, Any] = {}

    async def handler(request: web.Request) -> web.Response:
        seen.update(query=request.query["q"], body=await request.read(), headers=request.headers.copy())
        return web.Response(text="{}")

    async with serving(handler) as base:
        query = "a%20b%2Bc%26d%3De%C3%BC%25%23%2520"
        await client.send(HttpRequest("POST", f"{base}/s?q={query}", {"X-Key": "k"}, '{"q":"서울"}'.encode()), 5.0)
    headers = seen["headers"]
    assert seen["query"] == "a b+c&d=eü%#%20"
    assert seen["body"] == '{"q":"서울"}'.encode()
    assert headers["X-Key"] == "k"
    assert headers["Accept-Encoding"] == "gzip, deflate"
    assert headers["User-Agent"].startswith("groundwire/")


async def test_silence_ends_at_the_deadline(client: HttpClient) -> None:
    async def handler(_: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async with serving(handler) as base:
        error = await fails(client, get(base), 0.1)
    assert (error.kind, error.reached, error.reason) == ("timeout", True, "no whole answer within 100 ms")


async def test_an_answer_that_drips_ends_at_the_deadline_too(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b" ")
            await asyncio.sleep(0.02)
        return response

    async with serving(handler) as base:
        error = await fails(client, get(base), 0.2)
    assert (error.kind, error.reached) == ("timeout", True)


async def test_a_line_that_breaks_in_the_middle_is_a_transport_error_with_its_status(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"half":')
        assert request.transport is not None
        request.transport.abort()
        return response

    async with serving(handler) as base:
        error = await fails(client, get(base))
    assert (error.kind, error.reached, error.status_code) == ("transport", True, 200)


async def test_a_connection_that_is_closed_at_once_may_have_been_billed(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with serving(handler) as base:
        error = await fails(client, HttpRequest("POST", base, {}, b"{}"))
    assert (error.kind, error.reached) == ("transport", True)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_kept_connection_that_breaks_is_one_call_on_the_wire_and_not_two(
    client: HttpClient, method: str
) -> None:
    calls = 0

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The first call on the connection is answered and the line kept; the second is read, and the line cut."""
        nonlocal calls
        with contextlib.suppress(asyncio.IncompleteReadError):
            for answered in (True, False):
                await reader.readuntil(b"\r\n\r\n")
                calls += 1
                if answered:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                    await writer.drain()
        writer.transport.abort()

    server = await asyncio.start_server(answer_once, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    request = HttpRequest(method, url, {})
    async with server:
        assert (await client.send(request, 5.0)).status == 200
        error = await fails(client, request)
        assert (error.kind, error.reached, calls) == ("transport", True, 2)
        # The client is none the worse for it: the next call has a line of its own.
        assert (await client.send(request, 5.0)).status == 200
        assert calls == 3


async def test_nobody_listening_costs_nothing(client: HttpClient) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    error = await fails(client, get(f"http://127.0.0.1:{port}/?key=secret"))
    assert (error.kind, error.reached, error.reason) == ("transport", False, "no connection to 127.0.0.1")


async def test_a_connection_that_never_comes_about_is_a_timeout_that_reached_nobody(client: HttpClient) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]  # they fill the queue of those who wait to be let in
        for one in waiting:
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(("127.0.0.1", port))
        error = await fails(client, get(f"http://127.0.0.1:{port}/"), 0.3)
        for one in waiting:
            one.close()
    assert error.kind == "timeout"


async def test_no_tls_where_tls_was_wanted(client: HttpClient) -> None:
    async with serving(hello) as base:
        error = await fails(client, get(base.replace("http://", "https://")))
    assert (error.kind, error.reached) == ("transport", False)


@pytest.mark.parametrize("declared", [True, False])
async def test_an_answer_that_is_too_large_is_not_read_to_its_end(client: HttpClient, declared: bool) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "10000000"} if declared else {})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                await response.write(b" " * 100_000)
        return response

    async with serving(handler) as base:
        error = await fails(client, get(base))
    assert (error.kind, error.reason, error.status_code) == ("bad_answer", "more than 100,000 bytes", 200)


async def test_a_bomb_is_never_unpacked(client: HttpClient) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) < 100_000

    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip"})

    async with serving(handler) as base:
        error = await fails(client, get(base))
    assert (error.kind, error.reason) == ("bad_answer", "more than 100,000 bytes")


async def test_a_redirect_is_an_answer_that_nobody_follows(client: HttpClient) -> None:
    calls: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        calls.append(request.path)
        return web.Response(status=302, headers={"Location": "/elsewhere"})

    async with serving(handler) as base:
        answer = await client.send(get(f"{base}/a"), 5.0)
    assert (answer.status, calls) == (302, ["/a"])


async def test_where_a_file_allows_it_a_redirect_is_followed_within_the_site(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.path == "/a":
            return web.Response(status=307, headers={"Location": "/b"})
        return web.json_response({"path": request.path, "key": request.headers.get("X-Key")})

    async with serving(handler) as base:
        answer = await client.send(HttpRequest("GET", f"{base}/a", {"X-Key": "k"}, follow_same_site=True), 5.0)
    assert answer.body == b'{"path": "/b", "key": "k"}'


async def test_no_key_is_carried_to_another_site(client: HttpClient) -> None:
    visits: list[str] = []

    async def other(request: web.Request) -> web.Response:
        visits.append(request.path)
        return web.Response(text="{}")

    async with serving(other) as away:

        async def handler(_: web.Request) -> web.Response:
            return web.Response(status=302, headers={"Location": away})

        async with serving(handler) as base:
            error = await fails(client, HttpRequest("GET", base, {"X-Key": "k"}, follow_same_site=True))
    assert (error.kind, error.reason, visits) == ("bad_answer", "302: a redirect to another site", [])


async def test_a_circle_of_redirects_ends(client: HttpClient) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/again"})

    async with serving(handler) as base:
        error = await fails(client, HttpRequest("GET", base, {}, follow_same_site=True))
    assert (error.kind, error.reason) == ("bad_answer", "more than 3 redirects")


async def test_cookies_are_not_carried_from_call_to_call(client: HttpClient) -> None:
    async def handler(request: web.Request) -> web.Response:
        response = web.Response(text=request.headers.get("Cookie", "none"))
        response.set_cookie("who", "you")
        return response

    async with serving(handler) as base:
        await client.send(get(base), 5.0)
        assert (await client.send(get(base), 5.0)).body == b"none"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "10.0.0.7", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "router.local"]
)
async def test_private_addresses_are_not_called(host: str) -> None:
    client = HttpClient(max_answer_bytes=1000)
    error = await fails(client, get(f"http://{host}:1/"))
    assert (error.kind, error.reached) == ("transport", False)
    assert "private address" in error.reason
    await client.aclose()


async def test_a_public_name_that_resolves_to_a_private_address_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: object, **__: object) -> list[dict[str, object]]:
        return [
            {"hostname": "vendor.example", "host": "127.0.0.1", "port": 1, "family": 2, "proto": 0, "flags": 0},
        ]

    monkeypatch.setattr(http_module.ThreadedResolver, "resolve", resolve)
    client = HttpClient(max_answer_bytes=1000)
    error = await fails(client, get("http://vendor.example:1/"))
    assert (error.kind, error.reached, error.reason) == (
        "transport",
        False,
        "vendor.example resolves to a private address",
    )
    await client.aclose()


async def test_a_host_that_the_operator_named_may_be_private(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(_: object, host: str, port: int, *__: object, **___: object) -> list[dict[str, object]]:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": 2, "proto": 0, "flags": 0}]

    monkeypatch.setattr(http_module.ThreadedResolver, "resolve", resolve)
    client = HttpClient(max_answer_bytes=1000, trusted_hosts=frozenset({"search.example"}))
    async with serving(hello) as base:
        answer = await client.send(get(base.replace("127.0.0.1", "search.example")), 5.0)
    assert answer.status == 200
    await client.aclose()


async def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: object, **__: object) -> list[dict[str, object]]:
        raise OSError("no such host")

    monkeypatch.setattr(http_module.ThreadedResolver, "resolve", resolve)
    client = HttpClient(max_answer_bytes=1000)
    error = await fails(client, get("http://vendor.example:1/"))
    assert (error.kind, error.reason) == ("transport", "vendor.example has no address")
    await client.aclose()


async def test_cancelled_calls_do_not_spoil_the_ones_after_them(client: HttpClient) -> None:
    """httpx's own pool wedges here for good (encode/httpcore#1093)."""
    slow = asyncio.Event()

    async def handler(request: web.Request) -> web.Response:
        if request.path == "/slow":
            slow.set()
            await asyncio.sleep(60)
        return web.Response(text="{}")

    async with serving(handler) as base:
        hanging = [asyncio.create_task(client.send(get(f"{base}/slow"), 30.0)) for _ in range(20)]
        await slow.wait()
        for task in hanging:
            task.cancel()
        assert all(
            isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*hanging, return_exceptions=True)
        )
        answers = await asyncio.gather(*(client.send(get(f"{base}/fast"), 5.0) for _ in range(20)))
    assert [answer.status for answer in answers] == [200] * 20


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb"])
async def test_a_header_can_not_be_smuggled_in(client: HttpClient, value: str) -> None:
    async with serving(hello) as base:
        with pytest.raises((Unsendable, WireError)) as caught:
            await client.send(HttpRequest("GET", base, {"X-Key": value}), 5.0)
    assert "Evil" not in str(caught.value)


@pytest.mark.parametrize("url", ["ftp://vendor.example/", "https:///path"])
async def test_an_address_that_can_not_be_called(client: HttpClient, url: str) -> None:
    with pytest.raises((WireError, Unsendable)) as caught:
        await client.send(get(url), 5.0)
    assert "path" not in str(caught.value)


async def test_a_request_shows_no_headers_when_it_is_printed() -> None:
    assert "secret" not in repr(HttpRequest("GET", "https://a.example/", {"X-Key": "secret"}, b"secret"))


async def test_a_client_can_be_closed_before_it_was_used() -> None:
    client = HttpClient(max_answer_bytes=1)
    await client.aclose()
    await client.aclose()
