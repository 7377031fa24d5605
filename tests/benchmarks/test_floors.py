"""The arithmetic of the floors, and rates that are numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.floors import Rates, floor, floors_of, holding, measure_rates

RATES = Rates({1000: 100.0, 10**9: 10.0}, dgemm=1000.0, sgemm=2000.0, exp=1.0, gather={100: 50.0, 10**6: 5.0})


def test_the_smallest_size_that_holds_the_data_sets_the_rate():
    assert holding(RATES.gather, 100) == 50.0
    assert holding(RATES.gather, 101) == 5.0
    assert holding(RATES.gather, 10**7) == 5.0


def test_the_floor_is_its_formula():
    assert floor(RATES, 100, 10, 1000, passes=2.0, sparse=False) == pytest.approx(2.0 * 8000 / 10.0)
    assert floor(RATES, 100, 1000, 1000, passes=1.0, sparse=True) == pytest.approx(max(12000 / 10.0, 1000 / 5.0))
    steps = floor(RATES, 100, 10, 1000, passes=0.0, sparse=False, steps=3.0)
    assert steps == pytest.approx(3.0 * 100 * 10**2 / 1000.0)


def test_floors_of_a_task():
    dense = floors_of(np.ones((100, 10)), RATES, passes=None)
    assert set(dense) == {"least", "gram"}
    sparse = floors_of(sp.eye_array(10, format="csr"), RATES, passes=4)
    assert sparse["method"] == pytest.approx(2.0 * sparse["least"])


def test_rates_are_measured():
    rates = measure_rates(streams=(1 << 12,), tables=(1 << 10,), k=16)
    assert min([*rates.bandwidth.values(), *rates.gather.values(), rates.dgemm, rates.sgemm, rates.exp]) > 0.0
