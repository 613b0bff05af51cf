"""All vendors in one application on one loopback port, each under `/<provider>`, and `/_control` beside them."""

import time
from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from groundwire.adapters.sandbox.calls import Call, CallLog
from groundwire.adapters.sandbox.control import control_routes
from groundwire.adapters.sandbox.delivery import deliver, pause
from groundwire.adapters.sandbox.faults import Fault, FaultBook
from groundwire.adapters.sandbox.invoice import Invoice
from groundwire.adapters.sandbox.latency import Latency, LatencyShape
from groundwire.adapters.sandbox.library import Library
from groundwire.adapters.sandbox.spoiling import spoil
from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.vendors import VENDORS
from groundwire.adapters.sandbox.wire import Answer, Asked, as_json

LOOPBACK = "127.0.0.1"
MAX_REQUEST_BYTES = 2**20
KEPT_ANSWERS = 1_024


class Sandbox:
    """Local stand-ins for the vendors. `async with Sandbox(median_ms=0) as sandbox: sandbox.base_url("serper")`.

    `port` 0: a free one. `median_ms` and `sigma` shape the latency of all vendors (`sandbox.latency.by_vendor` of one);
    `seed` makes latency and chance faults repeatable; `invoice_file` keeps the bill through a kill. `root`: a vendor that
    is served without its prefix too, for clients that drop the path of their base address.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        median_ms: float = 300.0,
        sigma: float = 0.35,
        seed: int = 1,
        invoice_file: Path | None = None,
        root: str | None = None,
    ) -> None:
        library = Library()
        self.vendors: dict[str, Vendor] = {vendor.name: vendor(library) for vendor in VENDORS}
        self.latency = Latency(LatencyShape(median_ms, sigma), seed)
        self.faults = FaultBook(frozenset(self.vendors), seed)
        self.invoice = Invoice(self.vendors, invoice_file)
        self.calls = CallLog()
        self._root = None if root is None else self.vendors[root]
        self._port = port
        self._runner: web.AppRunner | None = None
        self._kept: OrderedDict[tuple[object, ...], Answer] = OrderedDict()

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT`. Known once started."""
        return f"http://{LOOPBACK}:{self._port}"

    def base_url(self, vendor: str) -> str:
        """What a provider's `base_url` is set to. Raises KeyError for a vendor that is not here."""
        return f"{self.address}/{self.vendors[vendor].name}"

    async def start(self) -> None:
        """Raises OSError when the port is taken."""
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.add_routes(control_routes(self))
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, LOOPBACK, self._port, backlog=1024)
        try:
            await site.start()
        except OSError:
            await self.stop()
            raise
        self._port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Ends calls that still wait, and closes the invoice."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.invoice.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def reset(self) -> None:
        """As if just started: no faults, no calls, nothing on the bill. Latency stays."""
        self.faults.reset()
        self.invoice.reset()
        self.calls.reset()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        began = time.monotonic()
        name, _, path = request.path[1:].partition("/")
        vendor = self.vendors.get(name)
        if vendor is None and self._root is not None:
            vendor, path = self._root, request.path[1:]
        if vendor is None:
            known = ", ".join(self.vendors)
            return web.Response(
                status=404,
                body=as_json({"error": f"no vendor at /{name}; there are: {known}"}),
                content_type="application/json",
            )
        body = await request.read()
        asked = Asked(
            method=request.method,
            path=f"/{path}",
            params=request.query,
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
            origin=f"http://{request.host}",
            now=datetime.now(UTC),
        )
        answer = self._answer(vendor, asked, request.raw_path)
        if not answer.is_call:
            return await deliver(request, answer, None)
        fault = self.faults.draw(vendor.name, answer.query)
        self.calls.arrived(vendor.name, answer.query)
        if fault is not None:
            answer = spoil(vendor, asked, answer, fault)
        if fault is None or fault.kind != "close":
            await pause(fault, self.latency.draw_s(vendor.name))
        # Booked before the answer leaves, and whether or not anyone still waits for it: that is how vendors bill.
        self.invoice.book(vendor.name, answer.micro_usd)
        response = await deliver(request, answer, fault)
        self.calls.answered(_call(vendor.name, answer, fault, began))
        return response

    def _answer(self, vendor: Vendor, asked: Asked, raw_path: str) -> Answer:
        if not vendor.repeatable:
            return vendor.answer(asked)
        varies = tuple(asked.headers.get(header) for header in vendor.varies)
        key = (vendor.name, asked.method, raw_path, varies, asked.body, asked.now.date())
        answer = self._kept.get(key)
        if answer is None:
            answer = vendor.answer(asked)
            self._kept[key] = answer
            if len(self._kept) > KEPT_ANSWERS:
                self._kept.popitem(last=False)
        return answer


def _call(name: str, answer: Answer, fault: Fault | None, began: float) -> Call:
    lost = fault is not None and fault.kind in ("hang", "close")
    return Call(
        vendor=name,
        query=answer.query,
        status=None if lost else answer.status,
        billed_micro_usd=answer.micro_usd,
        at=time.time(),
        took_ms=(time.monotonic() - began) * 1000,
        fault=fault.kind if fault else None,
    )
