"""Wire-true local stand-ins for the search vendors, with a price list, scripted faults and an invoice.

For demos, tests and benches: requests are checked as each vendor checks them, answers have each vendor's shape and quirks.
"""

from groundwire.adapters.sandbox.environment import sandbox_environment
from groundwire.adapters.sandbox.faults import Fault
from groundwire.adapters.sandbox.server import Sandbox
from groundwire.adapters.sandbox.serving import serve

__all__ = ["Fault", "Sandbox", "sandbox_environment", "serve"]
