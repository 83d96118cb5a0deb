"""Memory and work of a call are found without either."""

import pytest
import torch
from torch.nn import functional as F

from avatar_cli.runtime.meta_run import meta_run

KIB = 1024


def kibibytes(count):
    return torch.empty(count * KIB, dtype=torch.uint8, device="meta")


def test_the_peak_is_the_most_that_is_alive_at_a_time():
    weight = kibibytes(100)

    def call():
        first = weight + weight  # 100
        second = torch.cat([first, first])  # 200 beside the first
        del first
        view = second[: 10 * KIB]
        third = view + view  # 10 beside the second
        del second, view
        return third + third

    assert meta_run(call).peak_bytes == 300 * KIB


def test_weights_and_inputs_and_views_of_them_take_nothing():
    weight = kibibytes(100)
    assert meta_run(lambda: weight.view(2, -1)[0].t()).peak_bytes == 0


def test_products_and_attention_count_two_operations_a_multiplication():
    x, weight = torch.empty(6, 8, device="meta"), torch.empty(5, 8, device="meta")
    assert meta_run(lambda: F.linear(x, weight)).flops == 2 * 6 * 8 * 5
    query, key = torch.empty(1, 2, 7, 4, device="meta"), torch.empty(1, 2, 9, 4, device="meta")
    run = meta_run(lambda: F.scaled_dot_product_attention(query, key, key))
    assert run.flops == 2 * 2 * (7 * 9 * 4) * 2
    assert run.peak_bytes == query.nbytes


def test_an_error_of_the_call_is_the_caller_s():
    with pytest.raises(ValueError, match="no"):
        meta_run(lambda: (_ for _ in ()).throw(ValueError("no")))
