"""Orders, the first few of one and what is at one place of it: of equal elements those that PyTorch takes, in its order."""

from __future__ import annotations

import random

import pytest

from xdsl_exir.interpreter.introselect import first_places, place_of, sorted_places

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("size", [1, 2, 4, 5, 17, 40, 64, 65, 300, 1000])
def test_places_are_those_of_pytorch(size: int) -> None:
    draw = random.Random(size)
    for kinds in (1, 2, 10, 1000):
        x = torch.tensor([draw.randrange(kinds) for _ in range(size)])
        for count in {1, min(2, size), size // 64 + 1, size // 2 + 1, size - 1 or 1, size}:
            for is_sorted in (True, False):
                wanted = torch.topk(x, count, largest=False, sorted=is_sorted).indices.tolist()
                assert first_places(x.tolist(), count, is_sorted) == wanted


def test_rows_in_order_and_backwards() -> None:
    for ranks in (range(500), range(500, 0, -1)):
        for count in (3, 250, 500):
            wanted = torch.topk(torch.tensor(ranks), count, largest=False).indices.tolist()
            assert first_places(ranks, count) == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 17, 100])
def test_the_place_of_a_kth_value_is_that_of_pytorch(size: int) -> None:
    draw = random.Random(size)
    for kinds in (1, 2, 10, 1000):
        ranks = [draw.randrange(kinds) for _ in range(size)]
        for k in range(1, size + 1):
            assert place_of(ranks, k - 1) == torch.kthvalue(torch.tensor(ranks), k).indices.item()


@pytest.mark.parametrize("size", [1, 2, 16, 17, 40, 300, 1000])
def test_places_of_a_sort_are_those_of_pytorch(size: int) -> None:
    draw = random.Random(size)
    for kinds in (1, 2, 10, 100):
        ranks = [draw.randrange(kinds) for _ in range(size)]
        wanted = torch.sort(torch.tensor(ranks, dtype=torch.int16)).indices.tolist()
        assert sorted_places(ranks) == wanted
