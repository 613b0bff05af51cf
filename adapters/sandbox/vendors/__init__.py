"""One short file a vendor. A new one is added here and nowhere else."""

from groundwire.adapters.sandbox.vendor import Vendor
from groundwire.adapters.sandbox.vendors.anthropic import Anthropic
from groundwire.adapters.sandbox.vendors.brave import Brave
from groundwire.adapters.sandbox.vendors.brightdata import BrightData
from groundwire.adapters.sandbox.vendors.exa import Exa
from groundwire.adapters.sandbox.vendors.firecrawl import Firecrawl
from groundwire.adapters.sandbox.vendors.gemini import Gemini
from groundwire.adapters.sandbox.vendors.google_pse import GooglePSE
from groundwire.adapters.sandbox.vendors.jina import Jina
from groundwire.adapters.sandbox.vendors.linkup import Linkup
from groundwire.adapters.sandbox.vendors.openai import OpenAI
from groundwire.adapters.sandbox.vendors.perplexity import Perplexity
from groundwire.adapters.sandbox.vendors.searxng import SearXNG
from groundwire.adapters.sandbox.vendors.serper import Serper
from groundwire.adapters.sandbox.vendors.tavily import Tavily
from groundwire.adapters.sandbox.vendors.wikipedia import Wikipedia
from groundwire.adapters.sandbox.vendors.you import You

VENDORS: tuple[type[Vendor], ...] = (
    Serper,
    BrightData,
    Firecrawl,
    Exa,
    Tavily,
    Brave,
    SearXNG,
    Perplexity,
    GooglePSE,
    Linkup,
    You,
    Jina,
    Wikipedia,
    Anthropic,
    OpenAI,
    Gemini,
)
