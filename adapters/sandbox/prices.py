"""The vendors' price list in micro-USD: what each bills for one unit of its own, pay as you go, at the smallest plan.

One place, so that an invoice can be read against it line by line.
"""

from groundwire.schemas.money import per_thousand

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

MODEL_TOKENS: dict[str, tuple[int, int]] = {
    "claude": (3_000_000, 15_000_000),
    "gpt": (1_750_000, 14_000_000),
    "gemini": (500_000, 3_000_000),
}
"""Model family → micro-USD for a million input and output tokens. Answers count tokens in hundreds: no rounding."""


def token_price(model: str, input_tokens: int, output_tokens: int) -> int:
    """Micro-USD of the tokens of one answer. Raises KeyError for a model family that has no price."""
    family = next((name for name in MODEL_TOKENS if model.startswith(name)), None)
    if family is None:
        raise KeyError(model)
    price_in, price_out = MODEL_TOKENS[family]
    return (input_tokens * price_in + output_tokens * price_out) // 1_000_000
