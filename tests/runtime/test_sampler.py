import pytest
import torch

from avatar_cli.runtime.sampler import euler_sample, uniform_schedule

NO_ANCHORS = torch.zeros(1, dtype=torch.bool)


def gaussian_velocity(mean: float, deviation: float):
    """Exact velocity of the flow from N(0, 1) to N(mean, deviation**2) under x_t = (1 - t) eps + t x.

    E[x - eps | x_t] for jointly Gaussian x and eps.
    """

    def velocity(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        variance = (1 - t) ** 2 + (t * deviation) ** 2
        return mean + (t * deviation**2 - (1 - t)) / variance * (x - t * mean)

    return velocity


def test_euler_follows_an_analytic_flow_with_first_order_error():
    # The flow maps eps to mean + deviation * eps.
    noise = torch.randn(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    exact = 3 + 0.5 * noise
    errors = []
    for steps in (50, 100, 200):
        schedule = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
        x = euler_sample(gaussian_velocity(3.0, 0.5), noise, schedule, torch.zeros_like(noise), NO_ANCHORS)
        errors.append((x - exact).abs().max().item())
    assert errors[-1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.1)


def test_a_straight_path_needs_one_step():
    noise, data = torch.randn(2, 5, 3), torch.randn(2, 5, 3)
    x = euler_sample(lambda x, t: data - noise, noise, uniform_schedule(1), torch.zeros(1), NO_ANCHORS)
    torch.testing.assert_close(x, data)


@pytest.mark.parametrize("dtype", [torch.bool, torch.float32])
def test_anchors_are_clean_at_every_step_whatever_the_model_predicts(dtype: torch.dtype):
    clean = torch.full((1, 8, 3), 5.0)
    mask = torch.zeros(1, 8, 1, dtype=dtype)
    mask[:, :2] = 1
    seen: list[torch.Tensor] = []

    def velocity(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return torch.full_like(x, 100.0)

    x = euler_sample(velocity, torch.randn(1, 8, 3), uniform_schedule(4), clean, mask)
    assert len(seen) == 4
    for state in [*seen, x]:
        assert torch.equal(state[:, :2], clean[:, :2])
        assert not torch.any(state[:, 2:] == 5.0)


def test_times_run_from_noise_to_data():
    times: list[float] = []

    def velocity(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        times.append(t.item())
        return torch.zeros_like(x)

    euler_sample(velocity, torch.zeros(1), uniform_schedule(4), torch.zeros(1), NO_ANCHORS)
    assert times == [0.0, 0.25, 0.5, 0.75]


def test_half_precision_models_are_integrated_in_single_precision():
    x = euler_sample(
        lambda x, t: x.bfloat16(), torch.ones(3), uniform_schedule(6), torch.zeros(1), NO_ANCHORS
    )
    assert x.dtype == torch.float32
