"""The vendors' price list in micro-USD: what each bills for one unit of its own, pay as you go, at the smallest plan.

One place, so that an invoice can be read against it line by line.
"""

from groundwire.schemas.money import micro_usd, per_thousand

SERPER_CREDIT = per_thousand("1.00")  # 10 results are one credit, more are two
BRIGHTDATA_REQUEST = per_thousand("1.50")  # each success
FIRECRAWL_CREDIT = per_thousand("3.50")  # two for each started block of ten results, one a scraped page
EXA_SEARCH = per_thousand("7.00")
EXA_DEEP = per_thousand("12.00")
EXA_DEEP_REASONING = per_thousand("15.00")
EXA_INSTANT = per_thousand("4.00")
EXA_RESULT_ABOVE_10 = per_thousand("1.00")
EXA_SUMMARY = per_thousand("1.00")
TAVILY_CREDIT = per_thousand("8.00")  # basic is one credit, advanced two
BRAVE_REQUEST = per_thousand("5.00")
PERPLEXITY_REQUEST = per_thousand("5.00")
PERPLEXITY_FAST_REQUEST = per_thousand("1.00")
GOOGLE_PSE_REQUEST = per_thousand("5.00")
LINKUP_STANDARD = per_thousand("5.00")
LINKUP_DEEP = per_thousand("50.00")
YOU_REQUEST = per_thousand("5.00")
JINA_MILLION_TOKENS = 50_000
ANTHROPIC_SEARCH = per_thousand("10.00")
OPENAI_SEARCH = per_thousand("10.00")
GEMINI_QUERY = per_thousand("14.00")  # Gemini 3: each search query
GEMINI_PROMPT = per_thousand("35.00")  # Gemini 2.5 and older: each grounded prompt

_MODELS: tuple[tuple[str, str, str], ...] = (
    ("claude-haiku", "1", "5"),
    ("claude-opus", "5", "25"),
    ("claude", "3", "15"),
    ("gpt-5-nano", "0.05", "0.40"),
    ("gpt-5-mini", "0.25", "2"),
    ("gpt-5.2", "1.75", "14"),
    ("gpt-5", "1.25", "10"),
    ("gpt-4.1-mini", "0.40", "1.60"),
    ("gpt-4.1", "2", "8"),
    ("gpt-4o-mini", "0.15", "0.60"),
    ("gpt-4o", "2.50", "10"),
    ("gemini-3-flash", "0.50", "3"),
    ("gemini-3", "2", "12"),
    ("gemini-2.5-flash-lite", "0.10", "0.40"),
    ("gemini-2.5-flash", "0.30", "2.50"),
    ("gemini-2.5-pro", "1.25", "10"),
)
"""How a model's name begins → USD for a million input and output tokens; the first that fits."""

MODEL_TOKENS = {name: (micro_usd(read), micro_usd(wrote)) for name, read, wrote in _MODELS}


def token_price(model: str, input_tokens: int, output_tokens: int) -> int:
    """Micro-USD of the tokens of one answer; answers count tokens in hundreds, so nothing is rounded.

    Raises KeyError for a model that has no price.
    """
    begins = next((name for name in MODEL_TOKENS if model.startswith(name)), None)
    if begins is None:
        raise KeyError(model)
    read, wrote = MODEL_TOKENS[begins]
    return (input_tokens * read + output_tokens * wrote) // 1_000_000


def is_sold(model: str, family: str) -> bool:
    """Whether the vendor of a family (`claude`, `gpt`, `gemini`) has this model."""
    return model.startswith(family) and any(model.startswith(name) for name in MODEL_TOKENS)
