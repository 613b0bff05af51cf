"""One short file a vendor. A new one is added here and nowhere else."""

from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.vendors.brightdata import BrightData
from groundwire.adapters.sandbox.vendors.exa import Exa
from groundwire.adapters.sandbox.vendors.firecrawl import Firecrawl
from groundwire.adapters.sandbox.vendors.searxng import SearXNG
from groundwire.adapters.sandbox.vendors.serper import Serper
from groundwire.adapters.sandbox.vendors.tavily import Tavily
from groundwire.adapters.sandbox.vendors.wikipedia import Wikipedia

VENDORS: tuple[type[Vendor], ...] = (Serper, BrightData, Firecrawl, Exa, Tavily, Wikipedia, SearXNG)
