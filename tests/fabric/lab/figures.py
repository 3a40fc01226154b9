"""Figures of a run, to print and to assert."""

import math


def percentile(values, share):
    """By the nearest rank: a value that was really measured."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values):
    return percentile(values, 0.5)


def line(name, seconds):
    """'name   n 24   p50 1.62 s   p95 1.98 s   worst 2.10 s'"""
    return (
        f"{name:28} n {len(seconds):3}   p50 {percentile(seconds, 0.5):.2f} s"
        f"   p95 {percentile(seconds, 0.95):.2f} s   worst {max(seconds):.2f} s"
    )
