"""Waits for events, with deadlines and without blind sleeps.

A deadline here only ends a wait that is hopeless; it does not judge speed. Only in_time judges
how long something took, and only where the product's own time is measured: on virtual time, and
in ./dev test --full.
"""

import os
import select
import time

from .machine import VIRTUAL, lost

# What takes seconds on an idle machine takes a minute beside busy loops on a machine that stands still
# now and then.
PATIENCE_S = 60 if VIRTUAL else 120
EMULATED_EVERY_S = 0.1  # each check costs much time there
# A check that asks many daemons costs CPU time here and there: checks run a fifth of the time at most.
REST = 4  # times the duration of a check
LONGEST_REST_S = 1
FULL = os.environ.get("RACKMESH_FULL") == "1" or os.environ.get("RACKMESH_SOAK") == "1"


class Overdue(AssertionError):
    """Something did not come true before the deadline; the message has what was seen instead."""


class Late(AssertionError):
    """It came true, but took longer than the limit."""


def patience(seconds):
    """A deadline for an event that is expected within so many seconds."""
    return max(seconds, PATIENCE_S)


def in_time(what, took_s, bound_s, since=None):
    """Asserts, where time is judged, that it took at most bound_s. since: when it began
    (time.monotonic()); the time for which the machine did not run since then is added to the
    limit."""
    if not VIRTUAL and not FULL:
        return
    late = 0 if VIRTUAL or since is None else lost(since)
    if took_s > bound_s + late:
        raise Late(
            f"{what}: after {took_s:.2f} s, not within {bound_s:g} s and {late:.2f} s that the"
            " machine did not run"
        )


def rest_s(every, began):
    """Seconds until the next check: `every`, or more if the check, which began at this time, took
    long, unless durations are judged."""
    if VIRTUAL:
        return max(every, EMULATED_EVERY_S)
    if FULL:
        return every
    return max(every, min(REST * (time.monotonic() - began), LONGEST_REST_S))


def until(what, seconds, check, processes=(), every=0.02):
    """Calls check() until it returns a true value, and returns that. seconds: how long that
    usually takes; it waits patience(seconds).

    Between two calls it waits for the processes, and fails at once if one of them ends. check
    may raise OSError, which means "not yet".
    """
    seconds = patience(seconds)
    deadline = time.monotonic() + seconds
    poller = select.poll()
    for process in processes:
        poller.register(process.pidfd, select.POLLIN)
    seen = None
    while True:
        began = time.monotonic()
        try:
            answer = check()
            if answer:
                return answer
            seen = answer if answer is not None else seen
        except OSError as error:
            seen = error
        left = deadline - time.monotonic()
        if left <= 0:
            raise Overdue(f"{what}: not within {seconds:g} s; last seen: {seen!r}")
        for fd, _ in poller.poll(1000 * min(rest_s(every, began), left)):
            for process in processes:
                if process.pidfd == fd:
                    raise Overdue(f"{what}: {process.obituary()}")


def comes_true(seconds, check, every=0.02):
    """Whether check() becomes true within so many seconds; False is a valid result, too."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        if check():
            return True
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(rest_s(every, began), left))
