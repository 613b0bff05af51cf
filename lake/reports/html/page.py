"""The page itself: what was asked, what it cost, what that saved, and how fast it was, in that order."""

from collections.abc import Iterable, Sequence

from groundwire.lake.reports.html import plots
from groundwire.lake.reports.html.style import OUTCOME_ORDER, STYLE
from groundwire.lake.reports.html.text import escaped, foreign, milliseconds
from groundwire.lake.reports.report import Report
from groundwire.lake.reports.savings import count, percent, usd
from groundwire.schemas.money import MICRO_PER_USD

# Nothing may be loaded and nothing may run, whatever stands in the texts.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(report: Report) -> str:
    """A report as one HTML document, UTF-8."""
    sections = [
        _left_out(report),
        _tiles(report),
        _savings(report),
        _hits(report),
        _latency(report),
        _pair(_costs(report), _failures(report)),
        _providers(report),
        _semantic(report),
        _pair(_mix(report), _tenants(report)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Groundwire report</title><style>{STYLE}</style></head>\n<body><main>"
        f"{_header(report)}{''.join(sections)}"
        f"<footer>Made {escaped(report.made_at)} from the lake at {foreign(report.lake)}. Times are UTC, money is what the "
        "attempts' events say.</footer></main></body></html>\n"
    )


def _header(report: Report) -> str:
    if report.first_request_at is None:
        when = "no requests in this window"
    else:
        when = f"{_minute(report.first_request_at)} to {_minute(report.last_request_at)} UTC"
    return f'<header><h1>Groundwire report</h1><p class="quiet">{escaped(when)}</p></header>'


def _minute(moment: str | None) -> str:
    return "" if moment is None else moment[:16].replace("T", " ")


def _left_out(report: Report) -> str:
    if not report.left_out:
        return ""
    rows = [[foreign(found.file), foreign(found.reason)] for found in report.left_out]
    return _section(
        f"{count(len(rows), 'file')} left out",
        "These files can't be read, and what they hold is in none of the figures below. `groundwire lake verify` says more.",
        _table(["file", "reason"], rows, "tt"),
        css="warning",
    )


def _tiles(report: Report) -> str:
    rates, latency = report.hit_rates, report.latency_ms
    refreshes = report.ledger.refreshes
    ahead = (
        f", of them {count(refreshes, 'refresh', 'refreshes')} ahead for {usd(report.ledger.refreshes_micro_usd)}"
        if refreshes
        else ""
    )
    unknown = f" + {count(report.ledger.unknown_cost, 'call')} of unknown cost" if report.ledger.unknown_cost else ""
    tiles = [
        ("requests", f"{report.requests:,}", _parts(report.status, report.requests)),
        (
            "hit rate",
            "–" if rates.hit is None else percent(rates.hit),
            f"{report.cache['exact']:,} exact, {report.cache['semantic']:,} semantic",
        ),
        ("spent", _round_usd(report.cost_micro_usd), f"{count(report.ledger.calls, 'vendor call')}{ahead}{unknown}"),
        ("saved", _round_usd(report.savings.micro_usd), f"against {report.savings.baseline}, fees only"),
        (
            "latency, median",
            milliseconds(latency.p50 if latency else None),
            f"p95 {milliseconds(latency.p95 if latency else None)}, p99 {milliseconds(latency.p99 if latency else None)}",
        ),
    ]
    return (
        '<div class="tiles">'
        + "".join(
            f'<div class="tile"><div class="name">{name}</div><div class="value">{escaped(value)}</div>'
            f'<div class="more">{escaped(more)}</div></div>'
            for name, value, more in tiles
        )
        + "</div>"
    )


def _round_usd(amount_micro_usd: int) -> str:
    """To the cent from a dollar on; the exact sum stands in the text below."""
    return usd(round(amount_micro_usd, -4) if abs(amount_micro_usd) >= MICRO_PER_USD else amount_micro_usd)


def _parts(found: dict[str, int], whole: int) -> str:
    if whole and found.get("grounded") == whole:
        return "all grounded"
    return ", ".join(f"{n:,} {name}" for name, n in found.items() if n) or "–"


def _savings(report: Report) -> str:
    found = report.savings
    notes = "".join(f"<li>{escaped(note)}</li>" for note in (f"{found.baseline}: {found.baseline_what}.", *found.notes))
    bars = plots.savings_bars(found) if found.baseline_micro_usd or found.spent_micro_usd else ""
    body = (
        f'<p class="sum">{escaped(found.sum).replace(" %", "&nbsp;%")}</p><p class="quiet small">{escaped(found.cache_sum)}</p>'
        f'{bars}<ul class="notes">{notes}</ul>'
    )
    return _section("Savings", None, body)


def _hits(report: Report) -> str:
    if not report.timeline.steps:
        return ""
    key = "".join(
        f'<span class="{name}"><b>{name}</b> {report.cache[name]:,}'
        f" ({percent(report.cache[name] / report.hit_rates.of)})</span>"
        for name in OUTCOME_ORDER
        if report.cache[name]
    )
    return _section(
        "Hit rate over time",
        "Exact, semantic and stale hits among the requests of each step. Coalesced requests waited for another's vendor call: "
        "free, but no hit.",
        f'<div class="key">{key}</div>{plots.hit_rate_over_time(report.timeline)}',
    )


def _latency(report: Report) -> str:
    if not report.latency.histogram.by_cache:
        return ""
    stages = [
        [
            escaped(name),
            *(milliseconds(value) for value in (found.p50, found.p95, found.p99, found.mean)),
            f"{found.n:,}",
        ]
        for name, found in report.latency.by_stage.items()
    ]
    return _section(
        "Latency by where the answer came from",
        "From the request's own timestamp to the reply, on a logarithmic axis; each row has a height of its own.",
        plots.latency_by_outcome(report.latency)
        + '<div class="wide">'
        + _table(["stage", "p50", "p95", "p99", "mean", "requests"], stages, "tnnnnn")
        + "</div>",
    )


def _costs(report: Report) -> str:
    called = {name: figures for name, figures in report.providers.items() if figures.calls}
    body = plots.cost_by_provider(called) if called else '<p class="quiet">No vendor was called.</p>'
    return _section("Cost by provider", None, body)


def _failures(report: Report) -> str:
    rows = [
        [
            foreign(failure.provider),
            escaped(failure.outcome) + (f" {failure.status_code}" if failure.status_code is not None else ""),
            foreign(failure.reason),
            f"{failure.attempts:,}",
        ]
        for failure in report.failures
    ]
    body = _long_table(["provider", "outcome", "reason", "attempts"], rows, "ttxn", shown=8)
    return _section(
        "Failed and skipped attempts",
        None,
        body or '<p class="quiet">No attempt failed and no provider was passed over.</p>',
    )


def _providers(report: Report) -> str:
    if not report.providers:
        return ""
    rows = []
    for name, found in report.providers.items():
        latency = found.latency_ms
        rows.append(
            [
                foreign(name),
                f"{found.calls:,}",
                f"{found.ok:,}",
                f"{found.failed:,}",
                f"{found.skipped:,}",
                f"{found.lost:,}",
                milliseconds(latency.p50 if latency else None),
                milliseconds(latency.p95 if latency else None),
                "–" if found.results_mean is None else f"{found.results_mean:.1f}",
                usd(found.cost_micro_usd) + (f" + {found.unknown_cost:,} unknown" if found.unknown_cost else ""),
            ]
        )
    head = ["provider", "calls", "ok", "failed", "skipped", "lost", "p50", "p95", "results", "cost"]
    return _section("Providers", None, f'<div class="wide">{_table(head, rows, "t" + "n" * 9)}</div>')


def _semantic(report: Report) -> str:
    hits = report.semantic_hits
    if not hits.n:
        return ""
    rows = [
        [
            foreign(hit.query),
            foreign(hit.matched_query),
            "–" if hit.similarity is None else f"{hit.similarity:.3f}",
            "–" if hit.probability is None else f"{hit.probability:.3f}",
        ]
        for hit in hits.listed
    ]
    listed = "all of them" if hits.n == len(rows) else f"the newest {len(rows):,}"
    return _section(
        f"Semantic hits: {hits.n:,}",
        f"Each served an answer that was fetched for other words; {listed}, to be judged by eye.",
        _long_table(["asked", "answered from", "similarity", "probability"], rows, "xxnn", shown=20),
    )


def _mix(report: Report) -> str:
    if not report.requests:
        return ""
    tokens = report.verbosity.context_tokens
    rows = [[f"freshness: {escaped(name)}", f"{n:,}"] for name, n in report.freshness.items()]
    rows += [[f"error: {escaped(name)}", f"{n:,}"] for name, n in report.errors.items()]
    if tokens is not None:
        rows.append(["context tokens, mean", f"{tokens.mean:,.0f}"])
        rows.append(["context tokens, p95", f"{tokens.p95:,.0f}"])
        rows.append(["context tokens, all together", f"{report.verbosity.context_tokens_total:,}"])
    return _section("What was asked, and how much was said", None, _table(["", "requests"], rows, "tn"))


def _tenants(report: Report) -> str:
    if not report.requests:
        return ""
    rows = [
        [foreign(name), f"{found.requests:,}", f"{found.hits:,}", usd(found.cost_micro_usd), usd(found.saved_micro_usd)]
        for name, found in report.tenants.items()
    ]
    return _section(
        "Tenants", None, _table(["tenant", "requests", "hits", "cost", "spared by the cache"], rows, "xnnnn")
    )


def _section(title: str, explained: str | None, body: str, css: str | None = None) -> str:
    opening = f'<section class="{css}">' if css else "<section>"
    words = f'<p class="quiet">{escaped(explained)}</p>' if explained else ""
    return f"{opening}<h2>{escaped(title)}</h2>{words}{body}</section>"


def _pair(one: str, other: str) -> str:
    """Two sections side by side where there is room."""
    return f'<div class="pair">{one}{other}</div>' if one or other else ""


def _long_table(head: Sequence[str], rows: Sequence[Sequence[str]], kinds: str, *, shown: int) -> str:
    """A table whose rows past the first few open on a click. Empty without rows."""
    if not rows:
        return ""
    body = _table(head, rows[:shown], kinds)
    if len(rows) > shown:
        rest = _table(head, rows[shown:], kinds)
        body += f"<details><summary>{len(rows) - shown:,} more</summary>{rest}</details>"
    return f'<div class="wide">{body}</div>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kinds: str) -> str:
    """Cells are HTML already. Kinds: `t` short text, `x` long text, `n` number."""
    css = {"t": "", "x": ' class="text"', "n": ' class="n"'}
    cells = [css[kind] for kind in kinds]
    top = "".join(f"<th{cell}>{escaped(name)}</th>" for name, cell in zip(head, cells, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{cell}>{value}</td>" for value, cell in zip(row, cells, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
