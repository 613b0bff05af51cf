"""The environment that points Groundwire at a sandbox instead of at the vendors."""

from groundwire.adapters.sandbox.vendors import VENDORS

KEYS: dict[str, dict[str, str]] = {
    "serper": {"SERPER_API_KEY": "sandbox-serper"},
    "brightdata": {"BRIGHTDATA_API_KEY": "sandbox-brightdata", "BRIGHTDATA_ZONE": "sandbox_serp"},
    "firecrawl": {"FIRECRAWL_API_KEY": "sandbox-firecrawl"},
    "exa": {"EXA_API_KEY": "sandbox-exa"},
    "tavily": {"TAVILY_API_KEY": "sandbox-tavily"},
    "brave": {"BRAVE_API_KEY": "sandbox-brave"},
    "perplexity": {"PERPLEXITY_API_KEY": "sandbox-perplexity"},
    "google_pse": {"GOOGLE_PSE_API_KEY": "sandbox-google-pse", "GOOGLE_PSE_CX": "sandbox-cx"},
    "linkup": {"LINKUP_API_KEY": "sandbox-linkup"},
    "you": {"YOU_API_KEY": "sandbox-you"},
    "jina": {"JINA_API_KEY": "sandbox-jina"},
    "anthropic": {"ANTHROPIC_API_KEY": "sandbox-anthropic"},
    "openai": {"OPENAI_API_KEY": "sandbox-openai"},
    "gemini": {"GEMINI_API_KEY": "sandbox-gemini"},
}
"""Keys that say themselves that they open nothing. Wikipedia and SearXNG need none."""


def sandbox_environment(address: str) -> dict[str, str]:
    """Variables for every vendor served at `address` (`http://127.0.0.1:PORT`)."""
    address = address.rstrip("/")
    variables: dict[str, str] = {}
    for vendor in VENDORS:
        variables[f"GROUNDWIRE_PROVIDERS__{vendor.name.upper()}__BASE_URL"] = f"{address}/{vendor.name}"
        variables.update(KEYS.get(vendor.name, {}))
    return variables
