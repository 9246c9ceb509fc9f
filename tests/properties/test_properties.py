"""Every property on a few dozen cases, the same in every run; `make fuzz` tries thousands."""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from .properties import PROPERTIES, ShowsNothingError, try_one


@pytest.mark.parametrize("tried", PROPERTIES, ids=lambda tried: tried.name)
def test_property(tried):
    @settings(
        max_examples=tried.quick,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # a case says in one line how it is made; no need to shrink it
        suppress_health_check=list(HealthCheck),
    )
    @given(tried.drawn)
    def check(case):
        try:
            try_one(tried.check, case)
        except ShowsNothingError:
            assume(False)

    check()
