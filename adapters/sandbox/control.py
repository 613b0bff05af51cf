"""The sandbox's own endpoints under `/_control`: what was called, what it costs, what is to go wrong."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.adapters.sandbox.faults import Fault
from groundwire.adapters.sandbox.latency import LatencyShape

_Handler = Callable[[web.Request], Awaitable[web.Response]]

if TYPE_CHECKING:
    from groundwire.adapters.sandbox.server import Sandbox


class _Switch(BaseModel):
    """Body of POST /_control/off and /_control/on."""

    model_config = ConfigDict(extra="forbid")
    vendor: str
    status: int | None = Field(default=None, ge=400, le=599)


class _Pace(BaseModel):
    """Body of POST /_control/latency; without a vendor: all that have none of their own."""

    model_config = ConfigDict(extra="forbid")
    vendor: str | None = None
    median_ms: float = Field(ge=0)
    sigma: float = Field(default=0.35, ge=0)


def control_routes(sandbox: "Sandbox") -> list[web.RouteDef]:
    """GET invoice, calls (?vendor= &query= &limit=), faults; POST faults, off, on, latency, reset; DELETE faults."""

    async def invoice(_: web.Request) -> web.Response:
        return web.json_response(sandbox.invoice.as_dict())

    async def calls(request: web.Request) -> web.Response:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal():
            return _bad("limit must be a whole number")
        vendor, query = request.query.get("vendor"), request.query.get("query")
        return web.json_response(sandbox.calls.as_dict(vendor, query, int(limit)))

    async def faults(_: web.Request) -> web.Response:
        return web.json_response(sandbox.faults.as_dict())

    async def add_faults(request: web.Request) -> web.Response:
        rows = await _json(request)
        rules = [sandbox.faults.add(Fault.model_validate(row)) for row in (rows if isinstance(rows, list) else [rows])]
        return web.json_response({"ids": [rule.number for rule in rules]}, status=201)

    async def clear_faults(request: web.Request) -> web.Response:
        number = request.query.get("id")
        if number is not None and not number.isdecimal():
            return _bad("id must be a whole number")
        removed = sandbox.faults.clear(request.query.get("vendor"), None if number is None else int(number))
        return web.json_response({"removed": removed})

    async def off(request: web.Request) -> web.Response:
        switch = _Switch.model_validate(await _json(request))
        sandbox.faults.switch_off(switch.vendor, switch.status)
        return web.json_response(sandbox.faults.as_dict())

    async def on(request: web.Request) -> web.Response:
        switch = _Switch.model_validate(await _json(request))
        sandbox.faults.switch_on(switch.vendor)
        return web.json_response(sandbox.faults.as_dict())

    async def latency(request: web.Request) -> web.Response:
        pace = _Pace.model_validate(await _json(request))
        shape = LatencyShape(pace.median_ms, pace.sigma)
        if pace.vendor is None:
            sandbox.latency.shape = shape
        elif pace.vendor in sandbox.vendors:
            sandbox.latency.by_vendor[pace.vendor] = shape
        else:
            raise KeyError(f"no vendor {pace.vendor!r}")
        return web.json_response(pace.model_dump())

    async def reset(_: web.Request) -> web.Response:
        sandbox.reset()
        return web.json_response({"reset": True})

    return [
        web.get("/_control/invoice", invoice),
        web.get("/_control/calls", calls),
        web.get("/_control/faults", faults),
        web.post("/_control/faults", _explained(add_faults)),
        web.delete("/_control/faults", clear_faults),
        web.post("/_control/off", _explained(off)),
        web.post("/_control/on", _explained(on)),
        web.post("/_control/latency", _explained(latency)),
        web.post("/_control/reset", reset),
    ]


async def _json(request: web.Request) -> object:
    try:
        return await request.json()
    except ValueError:
        raise ValueError("the body must be JSON") from None


def _explained(handler: _Handler) -> _Handler:
    """A wrong body gets a 400 that says what is wrong with it."""

    async def explained(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except ValidationError as error:
            return _bad("; ".join(f"{'.'.join(map(str, at['loc'])) or 'body'}: {at['msg']}" for at in error.errors()))
        except KeyError as error:
            return _bad(str(error.args[0]))
        except ValueError as error:
            return _bad(str(error))

    return explained


def _bad(message: str) -> web.Response:
    return web.json_response({"error": message}, status=400)
