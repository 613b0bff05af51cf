"""How an answer goes over the wire: whole, or in one of the ways networks have of not delivering it."""

import asyncio
import contextlib

from aiohttp import web

from groundwire.adapters.sandbox.faults import Fault
from groundwire.adapters.sandbox.wire import Answer

DRIP_S = 0.2
DRIP_PIECES = 20
HANG_S = 3_600.0


async def pause(fault: Fault | None, usual_s: float) -> None:
    """The time before the first byte."""
    if fault is not None and fault.kind == "slow":
        usual_s += fault.seconds if fault.seconds is not None else 1.0
    if usual_s > 0:
        await asyncio.sleep(usual_s)


async def deliver(request: web.Request, answer: Answer, fault: Fault | None) -> web.StreamResponse:
    """Sends the answer, or fails to in the way the fault says."""
    if fault is None:
        return _response(answer)
    match fault.kind:
        case "hang":
            return await _hang(request, fault)
        case "close":
            return _cut(request)
        case "reset":
            return await _reset(request, answer)
        case "drip":
            return await _drip(request, answer, fault)
    return _response(answer)


def _response(answer: Answer) -> web.Response:
    response = web.Response(body=answer.body, status=answer.status, headers=answer.headers)
    response.headers["Content-Type"] = answer.content_type
    return response


def _cut(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=503)


async def _hang(request: web.Request, fault: Fault) -> web.StreamResponse:
    ends = asyncio.get_running_loop().time() + (HANG_S if fault.seconds is None else fault.seconds)
    # aiohttp lets a handler run on when its client leaves, and tells nobody: looking is the only way to notice.
    while request.transport is not None and asyncio.get_running_loop().time() < ends:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    return _cut(request)


async def _reset(request: web.Request, answer: Answer) -> web.StreamResponse:
    response = await _begun(request, answer)
    with contextlib.suppress(ConnectionError):
        await response.write(answer.body[: max(1, len(answer.body) // 2)])
        await asyncio.sleep(0.02)  # let the half that was written leave before the line is cut
    _cut(request)
    return response


async def _drip(request: web.Request, answer: Answer, fault: Fault) -> web.StreamResponse:
    pause_s = DRIP_S if fault.seconds is None else fault.seconds
    response = await _begun(request, answer)
    step = max(1, -(-len(answer.body) // DRIP_PIECES))
    with contextlib.suppress(ConnectionError):
        for start in range(0, len(answer.body), step):
            await response.write(answer.body[start : start + step])
            await asyncio.sleep(pause_s)
        await response.write_eof()
    return response


async def _begun(request: web.Request, answer: Answer) -> web.StreamResponse:
    response = web.StreamResponse(status=answer.status, headers=answer.headers)
    response.headers["Content-Type"] = answer.content_type
    response.content_length = len(answer.body)
    with contextlib.suppress(ConnectionError):
        await response.prepare(request)
    return response
