"""The page's one style sheet: light and dark by the reader's own setting, and fit to be printed."""

# Told apart also by people who don't see red and green apart; the same order in every plot.
OUTCOME_ORDER = ("exact", "semantic", "stale", "coalesced", "miss", "bypass")

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1b2430; --quiet: #5d6878; --line: #dde2e9; --grid: #e8ebf0;
  --accent: #0b6e8f; --good: #0f7a55; --warn: #8a5a00; --warn-page: #fff6e0;
  --exact: #0f8a6b; --semantic: #3b73d9; --stale: #c9920e; --coalesced: #8d63cf; --miss: #98a2b0; --bypass: #c3cad4;
  --bar: #0b6e8f; --bar-quiet: #b9c3cf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e6eaf0; --quiet: #9aa6b6; --line: #2c3542; --grid: #252d39;
    --accent: #59bfdd; --good: #4cc79a; --warn: #f0c060; --warn-page: #2d2614;
    --exact: #3cc29b; --semantic: #7aa5f5; --stale: #e3b54a; --coalesced: #b998ee; --miss: #6c7888; --bypass: #46505e;
    --bar: #59bfdd; --bar-quiet: #46505e;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans KR", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 56px; }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 16px; margin: 0 0 2px; }
p { margin: 0; }
.quiet { color: var(--quiet); }
.small { font-size: 13px; }
header { margin-bottom: 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; margin-bottom: 16px; }
.tile, section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tile { padding: 12px 16px 14px; }
.tile .name { color: var(--quiet); font-size: 13px; }
.tile .value { font-size: 26px; font-weight: 650; letter-spacing: -0.02em; line-height: 1.25;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tile .more { color: var(--quiet); font-size: 13px; }
section { padding: 18px 20px 20px; margin-bottom: 16px; }
section > p.quiet { margin-bottom: 12px; font-size: 13px; max-width: 110ch; }
.sum { font-size: 17px; line-height: 1.55; margin: 8px 0 4px; max-width: 100ch; }
.sum + .small { margin-bottom: 14px; }
ul.notes { margin: 14px 0 0; padding-left: 18px; color: var(--quiet); font-size: 13px; max-width: 120ch; }
ul.notes li { margin: 2px 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 16px; align-items: start; }
.pair section { margin-bottom: 0; }
.pair { margin-bottom: 16px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 500; font-size: 13px; white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
th.n, td.n { text-align: right; padding: 6px 0 6px 16px; white-space: nowrap; }
td.text { overflow-wrap: anywhere; min-width: 180px; }
.none { color: var(--quiet); }
.warning { background: var(--warn-page); border-color: var(--warn); }
.warning h2 { color: var(--warn); }
.key { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--quiet); margin-bottom: 8px; }
.key span::before { content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px;
  background: currentColor; }
.key span b { color: var(--ink); font-weight: 500; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
svg.full { min-width: 680px; }
svg.half { min-width: 320px; }
svg text { fill: var(--quiet); }
svg text.strong { fill: var(--ink); font-weight: 600; }
svg text.ink { fill: var(--ink); }
svg .grid { stroke: var(--grid); }
svg .axis { stroke: var(--line); }
svg .line { fill: none; stroke: var(--exact); stroke-width: 2; stroke-linejoin: round; }
svg .area { fill: var(--exact); opacity: 0.14; }
svg .point { fill: var(--exact); }
svg .bar { fill: var(--bar); }
svg .bar-quiet { fill: var(--bar-quiet); }
svg .mark { stroke: var(--ink); stroke-width: 1.5; }
.exact { fill: var(--exact); color: var(--exact); }
.semantic { fill: var(--semantic); color: var(--semantic); }
.stale { fill: var(--stale); color: var(--stale); }
.coalesced { fill: var(--coalesced); color: var(--coalesced); }
.miss { fill: var(--miss); color: var(--miss); }
.bypass { fill: var(--bypass); color: var(--bypass); }
details { margin-top: 8px; }
summary { cursor: pointer; color: var(--accent); font-size: 13px; }
footer { color: var(--quiet); font-size: 13px; margin-top: 20px; }
@media (max-width: 480px) { .pair { grid-template-columns: 1fr; } main { padding: 18px 12px 40px; } }
@media print { body { background: #fff; } section, .tile { break-inside: avoid; } }
"""
