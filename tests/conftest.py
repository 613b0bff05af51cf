"""For all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does, and no test here is about time.
settings.register_profile("groundwire", deadline=None)
settings.load_profile("groundwire")
