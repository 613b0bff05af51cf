"""The page's plots, as SVG that is part of the page. Every bar says its number when pointed at."""

from collections.abc import Sequence
from datetime import datetime

from groundwire.lake.reports.cost import ProviderFigures
from groundwire.lake.reports.html.style import OUTCOME_ORDER
from groundwire.lake.reports.html.text import escaped, milliseconds
from groundwire.lake.reports.latency import STEPS_A_DECADE, LatencyFigures
from groundwire.lake.reports.savings import Savings, count, percent, usd
from groundwire.lake.reports.timeline import Step, Timeline

WIDTH = 1000
HALF = 480


def hit_rate_over_time(timeline: Timeline) -> str:
    """The hit rate of each step as a line, and how many requests it is a rate of underneath."""
    left, right, top, rate_height, gap, volume_height = 44, 12, 10, 170, 22, 54
    width = WIDTH - left - right
    bottom = top + rate_height + gap + volume_height
    starts = [datetime.fromisoformat(step.start).timestamp() for step in timeline.steps]
    span = starts[-1] - starts[0] + timeline.step_s
    column = width * timeline.step_s / span
    bar = max(1.0, min(column * 0.82, 48))
    middles = [left + width * (start - starts[0]) / span + column / 2 for start in starts]
    most = max(step.requests for step in timeline.steps)
    parts = []
    for tenth in (0, 0.25, 0.5, 0.75, 1):
        y = top + rate_height * (1 - tenth)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth:.0%}</text>')
    parts += _rate_line(timeline, middles, top, rate_height)
    for step, x in zip(timeline.steps, middles, strict=True):
        height = volume_height * step.requests / most
        parts.append(
            f'<rect class="bar-quiet" x="{x - bar / 2:.1f}" y="{bottom - height:.1f}" width="{bar:.1f}" '
            f'height="{height:.1f}" rx="1"><title>{escaped(_step_title(step))}</title></rect>'
        )
    parts.append(f'<text x="{left - 8}" y="{bottom - volume_height + 10}" text-anchor="end">{_short(most)}</text>')
    parts.append(f'<text x="{left}" y="{bottom - volume_height - 8}">requests</text>')
    parts.append(f'<line class="axis" x1="{left}" x2="{left + width}" y1="{bottom}" y2="{bottom}"/>')
    parts += _time_ticks(timeline, middles, bottom + 18)
    return _svg(WIDTH, bottom + 26, "Hit rate over time, with the number of requests", parts)


def _rate_line(timeline: Timeline, middles: Sequence[float], top: float, height: float) -> list[str]:
    points = [
        (x, top + height * (1 - step.hit_rate), step)
        for step, x in zip(timeline.steps, middles, strict=True)
        if step.hit_rate is not None
    ]
    if not points:
        return []
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    floor = top + height
    parts = [
        f'<polygon class="area" points="{points[0][0]:.1f},{floor:.1f} {path} {points[-1][0]:.1f},{floor:.1f}"/>',
        f'<polyline class="line" points="{path}"/>',
    ]
    parts += [
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{escaped(_step_title(step))}</title></circle>'
        for x, y, step in points
    ]
    return parts


def _step_title(step: Step) -> str:
    rate = "no rate" if step.hit_rate is None else f"hit rate {percent(step.hit_rate)}"
    return f"{_clock(step.start, 1)}: {count(step.requests, 'request')}, {rate}, {usd(step.cost_micro_usd)}"


def _time_ticks(timeline: Timeline, middles: Sequence[float], y: float) -> list[str]:
    """As many labels as fit side by side."""
    parts = []
    last = float("-inf")
    for step, x in zip(timeline.steps, middles, strict=True):
        if x - last >= 130:
            anchor = "start" if x < 80 else "end" if x > WIDTH - 60 else "middle"
            parts.append(
                f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{_clock(step.start, timeline.step_s)}</text>'
            )
            last = x
    return parts


def _clock(start: str, step_s: int) -> str:
    moment = datetime.fromisoformat(start)
    if step_s >= 86_400:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%m-%d %H:%M}" if step_s >= 60 else f"{moment:%H:%M:%S}"


def latency_by_outcome(latency: LatencyFigures) -> str:
    """One histogram an outcome, all on one logarithmic axis, each with its median and 95th percentile."""
    found = [name for name in OUTCOME_ORDER if name in latency.histogram.by_cache]
    edges = latency.histogram.edges_ms
    used = [bin_ for name in found for bin_, n in enumerate(latency.histogram.by_cache[name]) if n]
    # Whole decades, so that the axis begins and ends at a round number.
    first = min(used) // STEPS_A_DECADE * STEPS_A_DECADE
    last = -(-(max(used) + 1) // STEPS_A_DECADE) * STEPS_A_DECADE
    left, right, row, top = 86, 120, 62, 8
    width = WIDTH - left - right
    column = width / (last - first)
    bottom = top + row * len(found)
    parts = []
    for edge in range(first, last + 1, STEPS_A_DECADE):
        x = left + column * (edge - first)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{_tick(edges[edge])}</text>')
    for index, name in enumerate(found):
        floor = top + row * (index + 1)
        bins = latency.histogram.by_cache[name]
        most = max(bins)
        for bin_, n in enumerate(bins):
            if n:
                height = (row - 16) * n / most
                parts.append(
                    f'<rect class="{name}" x="{left + column * (bin_ - first) + 0.5:.1f}" y="{floor - height:.1f}" '
                    f'width="{column - 1:.1f}" height="{max(height, 1.5):.1f}"><title>{milliseconds(edges[bin_])} to '
                    f"{milliseconds(edges[bin_ + 1])}: {count(n, 'request')}</title></rect>"
                )
        parts.append(f'<line class="axis" x1="{left}" x2="{left + width}" y1="{floor}" y2="{floor}"/>')
        parts.append(f'<text class="strong" x="{left - 12}" y="{floor - 22}" text-anchor="end">{name}</text>')
        parts.append(f'<text x="{left - 12}" y="{floor - 6}" text-anchor="end">{sum(bins):,}</text>')
        stated = latency.by_cache[name]
        parts.append(
            f'<text class="ink" x="{left + width + 12}" y="{floor - 22}">p50 {milliseconds(stated.p50)}</text>'
        )
        parts.append(f'<text x="{left + width + 12}" y="{floor - 6}">p95 {milliseconds(stated.p95)}</text>')
    return _svg(WIDTH, bottom + 26, "Latency by cache outcome", parts)


def _tick(edge_ms: float) -> str:
    return f"{edge_ms / 1000:g} s" if edge_ms >= 1000 else f"{edge_ms:g} ms"


def cost_by_provider(providers: dict[str, ProviderFigures]) -> str:
    """One bar a provider, its sum and its calls beside it."""
    most = max(figures.cost_micro_usd for figures in providers.values())
    rows = []
    for name, figures in providers.items():
        more = count(figures.calls, "call")
        if figures.unknown_cost:
            more += f", {figures.unknown_cost:,} of unknown cost"
        rows.append((name, figures.cost_micro_usd, most, usd(figures.cost_micro_usd), more, "bar"))
    return _bars(rows, "Cost by provider")


def savings_bars(savings: Savings) -> str:
    """What the baseline would have cost above what was spent."""
    most = max(savings.baseline_micro_usd, savings.spent_micro_usd)
    return _bars(
        [
            (
                savings.baseline,
                savings.baseline_micro_usd,
                most,
                usd(savings.baseline_micro_usd),
                "the baseline would have cost",
                "bar-quiet",
            ),
            ("spent", savings.spent_micro_usd, most, usd(savings.spent_micro_usd), "vendor fees, as booked", "bar"),
        ],
        "Baseline and spending",
        width=WIDTH,
    )


def _bars(rows: Sequence[tuple[str, int, int, str, str, str]], label: str, width: int = HALF) -> str:
    """Horizontal bars: name, amount, the largest amount, the amount as text, more text, class."""
    left, row, top = 104, 44, 2
    room = width - left - 8
    parts = []
    for index, (name, amount, most, text, more, css) in enumerate(rows):
        y = top + row * index
        length = room * amount / most if most else 0
        parts.append(f'<text class="strong" x="{left - 12}" y="{y + 14}" text-anchor="end">{escaped(name[:16])}</text>')
        parts.append(
            f'<rect class="{css}" x="{left}" y="{y + 2}" width="{max(length, 2):.1f}" height="15" rx="2">'
            f"<title>{escaped(name)}: {escaped(text)}</title></rect>"
        )
        parts.append(
            f'<text x="{left}" y="{y + 33}"><tspan class="ink">{escaped(text)}</tspan>'
            f"<tspan> · {escaped(more)}</tspan></text>"
        )
    return _svg(width, top + row * len(rows), label, parts)


def _short(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 10_000 else f"{number:,}"


def _svg(width: int, height: float, label: str, parts: Sequence[str]) -> str:
    size = "full" if width == WIDTH else "half"
    return (
        f'<div class="wide"><svg class="{size}" viewBox="0 0 {width} {height:.0f}" role="img" '
        f'aria-label="{escaped(label)}">{"".join(parts)}</svg></div>'
    )
