"""The only file that knows the HTTP client: one request, one whole answer, inside a deadline and a size.

httpx over the aiohttp transport: httpx's own connection pool wedges for good once requests have been cancelled in it
(encode/httpcore#1093), and cancelling is what deadlines and hedging do all day.
"""

import asyncio
import contextlib
import ipaddress
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urljoin, urlsplit

import aiohttp
import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from httpx_aiohttp import AiohttpTransport

from groundwire.adapters.addresses import is_private_address, is_private_host
from groundwire.adapters.decoding import ACCEPTED, Decoder, NotDecodable, TooLarge
from groundwire.adapters.errors import Unsendable, WireError

Transport = httpx.AsyncBaseTransport
USER_AGENT = "groundwire/0.1 (+https://github.com/groundwire/groundwire)"
MAX_CONNECTIONS = 1024  # the caps that matter are per provider, and the chain's business
MAX_REDIRECTS = 3
CONNECT_SHARE = 0.9  # of a call's time: a connection that takes longer leaves none for the answer
_NO_TIMEOUT = httpx.Timeout(None)  # the deadline is asyncio's, over everything
_PRIVATE = "resolves to a private address"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. `headers` may hold a key, so that the repr leaves them out."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    follow_same_site: bool = False


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One whole answer: header names in lower case, body after decompression."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """One shared client for all providers. `trusted_hosts` are those that the operator named: they may be private."""

    def __init__(
        self,
        *,
        max_answer_bytes: int,
        trusted_hosts: frozenset[str] = frozenset(),
        transport: Transport | None = None,
    ) -> None:
        self._max_answer_bytes = max_answer_bytes
        self._trusted_hosts = trusted_hosts
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    async def send(self, request: HttpRequest, timeout_s: float) -> HttpAnswer:
        """Raises WireError, or Unsendable for a request that HTTP can't carry. The deadline holds for everything, however slowly
        an answer drips."""
        self._refuse_private(request.url)
        started = time.monotonic()
        try:
            async with asyncio.timeout(timeout_s):
                return await self._send(request, timeout_s)
        except TimeoutError:
            raise WireError("timeout", f"no whole answer within {_seconds(timeout_s)}", reached=True) from None
        except httpx.HTTPError as error:
            raise _named(error, request.url, time.monotonic() - started) from None
        except (httpx.InvalidURL, httpx.CookieConflict, ValueError, UnicodeError):
            # aiohttp refuses header values with line breaks by a plain ValueError; its text may hold the value.
            raise Unsendable("the request holds a character that HTTP can't carry") from None

    async def aclose(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _send(self, request: HttpRequest, timeout_s: float) -> HttpAnswer:
        url = request.url
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._send_once(request, url, timeout_s)
            if not (request.follow_same_site and answer.status in (301, 302, 303, 307, 308)):
                return answer
            target = urljoin(url, answer.headers.get("location", ""))
            if not _same_site(url, target):
                raise WireError(
                    "bad_answer",
                    f"{answer.status}: a redirect to another site",
                    reached=True,
                    status_code=answer.status,
                )
            url = target
        raise WireError("bad_answer", f"more than {MAX_REDIRECTS} redirects", reached=True, status_code=answer.status)

    async def _send_once(self, request: HttpRequest, url: str, timeout_s: float) -> HttpAnswer:
        client = self._open()
        connecting = httpx.Timeout(None, connect=timeout_s * CONNECT_SHARE)
        headers = {
            "User-Agent": USER_AGENT,
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED,
            **request.headers,
        }
        async with client.stream(
            request.method, url, headers=headers, content=request.body, timeout=connecting
        ) as response:
            with _status_in_errors(response.status_code):
                body = await self._read(response)
            return HttpAnswer(
                response.status_code, {name.lower(): value for name, value in response.headers.items()}, body
            )

    async def _read(self, response: httpx.Response) -> bytes:
        limit = self._max_answer_bytes
        status = response.status_code
        too_large = WireError("bad_answer", f"more than {limit:,} bytes", reached=True, status_code=status)
        declared = response.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit:
            raise too_large
        try:
            decoder = Decoder(response.headers.get("content-encoding", ""), limit)
            async for chunk in response.aiter_raw():
                decoder.feed(chunk)
            return decoder.finish()
        except TooLarge:
            raise too_large from None
        except NotDecodable as error:
            raise WireError("bad_answer", str(error), reached=True, status_code=status) from None

    def _open(self) -> httpx.AsyncClient:
        """The client is made inside the loop that uses it."""
        if self._client is None:
            jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))  # nothing is carried from call to call
            transport = self._transport or AiohttpTransport(client=self._session)
            self._client = httpx.AsyncClient(
                transport=transport, follow_redirects=False, cookies=jar, timeout=_NO_TIMEOUT
            )
        return self._client

    def _session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=MAX_CONNECTIONS,
            resolver=_GuardedResolver(self._trusted_hosts),
            ttl_dns_cache=60,
            keepalive_timeout=30,
        )
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),
            auto_decompress=False,
        )
        # aiohttp sends a GET a second time by itself when a connection that was kept open breaks, and offers no public way to
        # say no. The vendor may have billed the first: whether to ask again is for the chain to decide, and to book.
        session._retry_connection = False
        return session

    def _refuse_private(self, url: str) -> None:
        host = urlsplit(url).hostname or ""
        if host not in self._trusted_hosts and is_private_host(host):
            raise WireError(
                "transport", f"{host} is a private address; only the operator's base_url may name one", reached=False
            )


class _GuardedResolver(AbstractResolver):
    """Names that resolve to a private address are refused, unless the operator named the host."""

    def __init__(self, trusted_hosts: frozenset[str]) -> None:
        self._trusted_hosts = trusted_hosts
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        if host not in self._trusted_hosts and any(_is_private(entry["host"]) for entry in found):
            raise OSError(None, f"{host}: {_PRIVATE}")
        return found

    async def close(self) -> None:
        await self._inner.close()


def _is_private(text: str) -> bool:
    try:
        return is_private_address(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return True


@contextlib.contextmanager
def _status_in_errors(status: int) -> Iterator[None]:
    """An answer that breaks off half-way still had a status."""
    try:
        yield
    except httpx.HTTPError:
        raise WireError(
            "transport", "the line broke in the middle of the answer", reached=True, status_code=status
        ) from None


def _named(error: httpx.HTTPError, url: str, seconds: float) -> WireError:
    """A client error in our words: its own text may hold the URL and what stands in it."""
    host = urlsplit(url).hostname or "the vendor"
    cause = error.__cause__
    match cause:
        case aiohttp.ClientConnectorDNSError():
            where = "resolves to a private address" if _PRIVATE in str(cause) else "has no address"
            return WireError("transport", f"{host} {where}", reached=False)
        case aiohttp.ClientSSLError():
            return WireError("transport", f"no trusted TLS connection to {host}", reached=False)
        case aiohttp.ConnectionTimeoutError():
            return WireError("timeout", f"no connection to {host} within {_seconds(seconds)}", reached=False)
        case aiohttp.ClientConnectorError():
            return WireError("transport", f"no connection to {host}", reached=False)
    if isinstance(error, httpx.UnsupportedProtocol):
        return WireError("transport", "the address is not one that can be called", reached=False)
    return WireError("transport", f"{host} closed the connection without an answer", reached=True)


def _same_site(url: str, target: str) -> bool:
    one, other = urlsplit(url), urlsplit(target)
    return (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{seconds * 1000:.0f} ms"


class CannedTransport(httpx.AsyncBaseTransport):
    """Stands in for the network: every request is answered by a function. For fixtures and tests."""

    def __init__(self, respond: Callable[[HttpRequest], HttpAnswer]) -> None:
        self._respond = respond

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        answer = self._respond(HttpRequest(request.method, str(request.url), dict(request.headers), body or None))
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=httpx.ByteStream(answer.body))
