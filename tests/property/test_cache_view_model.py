"""Whatever comes through the log, the view says what a plain dict would say."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from groundwire.lake.cache import segments as segments_module
from groundwire.lake.cache.keys import hash64
from groundwire.lake.cache.purge import matches
from groundwire.lake.cache.view import CacheReader
from groundwire.schemas.cache_write import CacheEntry, CacheWrite
from tests.unit.cache_views import DAY_MS, DIMENSIONS, MODEL, NOW_MS, opened, purge, put, settings_in, vector

KEYS = ["a", "b", "c", "d", "e"]
DOMAINS = ["one.example.org", "two.example.org", "example.net"]
PROVIDERS = ["serper", "exa"]

puts = st.builds(
    put,
    st.sampled_from(KEYS),
    provider=st.sampled_from(PROVIDERS),
    domain=st.sampled_from(DOMAINS),
    tenant=st.sampled_from(["default", "other"]),
    stored_at_ms=st.integers(NOW_MS - 1000, NOW_MS - 1),
    # Already over when it is written, over soon, and long-lived.
    expires_at_ms=st.sampled_from([NOW_MS - DAY_MS, NOW_MS + DAY_MS, NOW_MS + 10 * DAY_MS]),
    semantic=st.booleans(),
)
purges = st.builds(
    purge,
    query=st.none() | st.sampled_from(KEYS),
    provider=st.none() | st.sampled_from(PROVIDERS),
    domain=st.none() | st.sampled_from(["example.org", "two.example.org", "example.net", "org"]),
    tenant=st.none() | st.sampled_from(["default", "other"]),
    before_ms=st.none() | st.integers(NOW_MS - 1000, NOW_MS),
    requested_at_ms=st.integers(NOW_MS - 1000, NOW_MS + 1),
)


class ViewIsADict(RuleBasedStateMachine):
    """One writer, one reader that follows it, and the dict that both have to agree with."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.home = tempfile.TemporaryDirectory()
        self.settings = settings_in(Path(self.home.name), semantic={"memory_rows": 2})
        self.model: dict[str, CacheEntry] = {}
        self.now_ms = NOW_MS
        self.offset = 0

    @initialize()
    def begin(self) -> None:
        self.writer = opened(self.settings)
        self.reader = CacheReader(self.settings, MODEL, DIMENSIONS)
        self.loop.run_until_complete(self.reader.refresh())

    @rule(changes=st.lists(puts | puts | purges | st.none(), min_size=1, max_size=6))
    def apply(self, changes: list[CacheWrite | None]) -> None:
        rows = []
        for change in changes:
            self.offset += 1
            rows.append((0, self.offset, change))
            if change is not None and change.entry is not None:
                self.model[change.entry.cache_key] = change.entry
            if change is not None and change.purge is not None:
                wanted = change.purge
                self.model = {key: entry for key, entry in self.model.items() if not matches(wanted, entry)}
        self.writer.apply(rows)

    @rule()
    def time_passes(self) -> None:
        self.now_ms += DAY_MS

    @rule()
    def expire(self) -> None:
        self.writer.expire(self.now_ms)

    @rule()
    def optimize(self) -> None:
        self.writer.optimize(wait=True)

    @rule()
    def the_writer_is_killed(self) -> None:
        self.writer._lock.release()
        self.writer = opened(self.settings)

    @rule()
    def the_reader_starts_anew(self) -> None:
        self.loop.run_until_complete(self.reader.stop())
        self.reader = CacheReader(self.settings, MODEL, DIMENSIONS)

    @invariant()
    def the_view_says_what_the_dict_says(self) -> None:
        self.loop.run_until_complete(self._compare())

    async def _compare(self) -> None:
        await self.reader.refresh()
        assert self.reader.failure is None
        live = {key: entry for key, entry in self.model.items() if entry.expires_at_ms > self.now_ms}
        for key in KEYS:
            found = await self.reader.exact(key, self.now_ms)
            expected = live.get(key)
            assert found == (None if expected is None else expected.model_copy(update={"embedding": None}))
            near = await self.reader.nearest("facet", vector(key), 1, self.now_ms)
            comparable = expected is not None and expected.semantic
            assert (bool(near) and near[0].entry.cache_key == key and near[0].similarity > 0.99) == comparable
        assert self.writer.positions().get(0, 0) == self.offset
        assert {hash64(key) for key in live} <= set(self.writer._index.columns()[0].tolist())

    def teardown(self) -> None:
        if hasattr(self, "reader"):
            self.loop.run_until_complete(self.reader.stop())
            self.writer.close()
        self.loop.close()
        self.home.cleanup()


# Segments of three rows, so that sealing, folding and dropping happen all the time.
class ViewInSmallSegmentsIsADict(ViewIsADict):
    def __init__(self) -> None:
        super().__init__()
        self.rows_before = segments_module.SEGMENT_ROWS
        segments_module.SEGMENT_ROWS = 3

    def teardown(self) -> None:
        segments_module.SEGMENT_ROWS = self.rows_before
        super().teardown()


profile = settings(max_examples=8, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TestView = ViewIsADict.TestCase
TestView.settings = profile
TestViewInSmallSegments = ViewInSmallSegmentsIsADict.TestCase
TestViewInSmallSegments.settings = profile
