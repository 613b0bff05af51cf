"""Wire-true local stand-ins for the search vendors, with a price list, scripted faults and an invoice.

For demos, tests and benches: requests are checked as each vendor checks them, answers have each vendor's shape and quirks.
Names are loaded at first use: `sandbox_environment` alone, which every command asks for, needs no web server.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundwire.adapters.sandbox.environment import sandbox_environment
    from groundwire.adapters.sandbox.faults import Fault
    from groundwire.adapters.sandbox.server import Sandbox
    from groundwire.adapters.sandbox.serving import serve

__all__ = ["Fault", "Sandbox", "sandbox_environment", "serve"]

_PLACES = {"Fault": "faults", "Sandbox": "server", "sandbox_environment": "environment", "serve": "serving"}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(f"groundwire.adapters.sandbox.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
