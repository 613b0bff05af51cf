"""What an attempt cost, in integer micro-USD: as the answer says, else as counted in it, else as listed, else unknown.

Sums are Decimal until the last step; no float ever holds money.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from groundwire.adapters.call import FREE, UNKNOWN_COST, Cost
from groundwire.adapters.classify import search
from groundwire.adapters.spec import FailureCost, Meter, PriceSpec, Rate
from groundwire.schemas.money import MICRO_PER_USD

_MOST = Decimal(10**12)  # a million USD for one call: beyond it the statement is a mistake
DEFAULT_DEPTH = 5


@dataclass(frozen=True, slots=True)
class PriceList:
    """A provider's prices under the operator's options. `own_micro_usd` is the operator's own for a call at default depth."""

    spec: PriceSpec
    options: Mapping[str, str]
    own_micro_usd: int | None = None

    def list_price(self, depth: int) -> int | None:
        """Micro-USD of one call that asks for `depth` results; None when the list does not say."""
        exact = self._list_price(depth)
        if self.own_micro_usd is None:
            return None if exact is None else _whole(exact)
        if exact is None:
            return self.own_micro_usd
        return _whole(exact * self._own_factor())

    def cost_of_answer(self, depth: int, document: Any) -> Cost:
        """What an answer that was served cost."""
        said = self._said(document)
        if said is not None:
            return said
        return UNKNOWN_COST if self.spec.meters else self._from_list(depth)

    def cost_of_refusal(self, depth: int, document: Any) -> Cost:
        """What a call cost that the vendor refused: what it says, else by the file's rule."""
        said = self._said(document)
        if said is not None:
            return said
        rule = next((r.cost for r in self.spec.refused_when if self._holds(r.when)), self.spec.refused)
        return self._by_rule(rule, depth)

    def cost_of_masked(self, depth: int, document: Any) -> Cost:
        """What a 200 cost that could not be read."""
        said = self._said(document)
        return said if said is not None else self._by_rule(self.spec.masked, depth)

    def cost_of_lost(self, depth: int) -> Cost:
        """What a call cost whose answer never came."""
        return self._by_rule(self.spec.lost, depth)

    def stated(self, document: Any) -> Cost | None:
        """The cost an answer states about itself, or None."""
        if self.spec.stated is None:
            return None
        for expression in self.spec.stated.path:
            units = _amount(search(expression, document))
            if units is not None:
                unit = self.spec.stated.unit_usd
                micro = units * unit * MICRO_PER_USD * (self._own_factor() if unit != 1 else 1)
                if micro <= _MOST:
                    return Cost(_whole(micro), "answer")
        return None

    def _said(self, document: Any) -> Cost | None:
        """What the answer says about its cost, in a sum or in counts; a failed call is booked with it too."""
        stated = self.stated(document)
        if stated is None and self.spec.meters:
            metered = self._metered(document)
            return metered if metered.micro_usd is not None else None
        return stated

    def _metered(self, document: Any) -> Cost:
        """The sum over the meters; unknown as soon as one that is needed can't be read."""
        parts: dict[str, dict[str, int]] = {}
        total = Decimal(0)
        for meter in self.spec.meters:
            if not self._holds(meter.when):
                continue
            units = _amount(search(meter.path, document))
            if units is None:
                if meter.required:
                    return UNKNOWN_COST
                continue
            for expression in meter.minus:
                units -= _amount(search(expression, document)) or 0
            units = max(units, Decimal(0))
            price = self._meter_price(meter)
            if price is None:
                return UNKNOWN_COST
            if units:
                amount = units * price
                total += amount
                parts[meter.name] = {"units": int(units), "micro_usd": _whole(amount)}
        if total > _MOST:
            return UNKNOWN_COST
        return Cost(_whole(total), "answer", json.dumps(parts, separators=(",", ":")) if parts else None)

    def _meter_price(self, meter: Meter) -> Decimal | None:
        """Micro-USD of one unit."""
        if meter.usd_per_1000 is not None:
            return meter.usd_per_1000 * MICRO_PER_USD / 1000
        model = self.options.get(self.spec.model_option or "", "")
        for pattern, columns in self.spec.models.items():
            if _fits(model, pattern):
                per_million = columns.get(meter.token or "")
                return None if per_million is None else per_million * MICRO_PER_USD / 1_000_000
        return None

    def _by_rule(self, rule: FailureCost, depth: int) -> Cost:
        match rule:
            case "free":
                return FREE
            case "list":
                return self._from_list(depth)
        return UNKNOWN_COST

    def _from_list(self, depth: int) -> Cost:
        price = self.list_price(depth)
        return UNKNOWN_COST if price is None else Cost(price, "price_list")

    def _list_price(self, depth: int) -> Decimal | None:
        rate = next((rate for rate in self.spec.rates if self._fits(rate, depth)), None)
        if rate is None:
            return None
        blocks = -(-depth // rate.block) if rate.block is not None else 1
        extra = max(0, depth - rate.included) if rate.included is not None else 0
        return (rate.usd_per_1000 * blocks + rate.extra_usd_per_1000 * extra) * MICRO_PER_USD / 1000

    def _own_factor(self) -> Decimal:
        """How the operator's own price compares with the list's, so that it holds at other depths and options too."""
        if self.own_micro_usd is None:
            return Decimal(1)
        base = self._list_price(DEFAULT_DEPTH)
        return Decimal(self.own_micro_usd) / base if base else Decimal(1)

    def _fits(self, rate: Rate, depth: int) -> bool:
        return (rate.max_depth is None or depth <= rate.max_depth) and self._holds(rate.when)

    def _holds(self, when: Mapping[str, str]) -> bool:
        return all(_fits(self.options.get(name, ""), pattern) for name, pattern in when.items())


def _fits(value: str, pattern: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _amount(value: Any) -> Decimal | None:
    """A count or an amount: a JSON number that is not negative. A text is none: who changes types may change more."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = Decimal(str(value))
    except (InvalidOperation, ValueError):
        return None
    return amount if amount.is_finite() and 0 <= amount <= _MOST else None


def _whole(micro: Decimal) -> int:
    return int(micro.quantize(Decimal(1), rounding=ROUND_HALF_UP))
