"""The measurements measure, and compare with their limits."""

import json
import sys

import pytest

from benchmarks import bench, bench_boundaries, bench_evidence, bench_host, bench_permit, bench_reads, bench_relay
from benchmarks.numbers import Times


def test_a_percentile_is_a_time_that_was_taken() -> None:
    times = Times([0.003, 0.001, 0.002, 0.004])
    assert (times.milliseconds(50), times.milliseconds(95), times.microseconds(0)) == (3.0, 4.0, 1000.0)


def test_a_call_that_fails_is_not_timed() -> None:
    times = Times()
    with pytest.raises(RuntimeError), times.one():
        raise RuntimeError
    assert times.seconds == []


def test_a_permit_is_measured_step_by_step() -> None:
    found = bench_permit.measure(50)
    steps = [found[f"{step}_us_p50"] for step in ("acquire", "recheck", "release")]
    assert all(steps)
    assert found["permit_us_p50"] >= max(steps)


def test_evidence_is_measured_and_none_of_it_is_lost() -> None:
    """E6."""
    found = bench_evidence.measure(50)
    assert found["effect_kept_us_p50"] > 0 and found["effect_unkept_us_p50"] > 0
    assert (found["records"], found["lost"]) == (150, 0)


def test_the_relay_is_compared_with_the_same_server_without_it() -> None:
    """E8."""
    found = bench_relay.measure(20)
    assert found["relayed_ms_p50"] > 0
    assert found["overhead_ms_p50"] == round(found["relayed_ms_p50"] - found["direct_ms_p50"], 2)


async def test_the_host_is_compared_with_playwrights_own_launch() -> None:
    found = await bench_host.measure(3)
    assert all(
        found[f"{call}_p50_{kind}"] > 0 for call in ("click", "fill", "snapshot") for kind in ("own_ms", "ratio")
    )


async def test_a_read_is_measured_with_few_clients_and_with_many() -> None:
    found = await bench_reads.measure(60)
    assert all(found[f"per_second_{clients}"] > 0 for clients in bench_reads.CLIENTS)
    assert all(found[f"ms_p95_{clients}"] >= found[f"ms_p50_{clients}"] > 0 for clients in bench_reads.CLIENTS)


def test_a_figure_above_its_limit_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_measure", lambda name, count: ({"click_p50_ratio": 1.4}, {"click_p50_ratio": 1.3}))
    monkeypatch.setattr(sys, "argv", ["bench", "--only", "host", "--json"])
    assert bench.main() == 1
    assert json.loads(capsys.readouterr().out)["over"] == ["host: click_p50_ratio is 1.4, above 1.3"]


async def test_the_stop_list_is_measured_in_a_real_browser() -> None:
    """B1: what the first few of the labelled controls are told to be."""
    figures = await bench_boundaries.measure(6)
    assert figures["control_tuned_destructive_recall"] == 1.0
