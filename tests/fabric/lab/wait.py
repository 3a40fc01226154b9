"""Waiting for what must come true, with a deadline: never a blind sleep.

A deadline here is patience: it ends what is lost, and judges nothing. How long something
took is judged by in_time alone, and only where the clock is the product's own: in the
machine on virtual time, and in ./dev test --full."""

import os
import select
import time

from .machine import VIRTUAL, lost

# What takes seconds alone takes a minute beside busy loops, in a machine that stands still now and then.
PATIENCE_S = 60 if VIRTUAL else 120
EMULATED_EVERY_S = 0.1  # questions are dear there
FULL = os.environ.get("RACKMESH_FULL") == "1" or os.environ.get("RACKMESH_SOAK") == "1"


class Overdue(AssertionError):
    """Something did not come true in time; says what, and what was seen instead."""


class Late(AssertionError):
    """It came true, and took longer than is judged right."""


def patience(seconds):
    """A deadline for what is expected within so many seconds."""
    return max(seconds, PATIENCE_S)


def in_time(what, took_s, bound_s, since=None):
    """Asserts that it took no longer than this, where time is judged. since: when it began
    (time.monotonic()); what the machine has lost since then is granted."""
    if not VIRTUAL and not FULL:
        return
    late = 0 if VIRTUAL or since is None else lost(since)
    if took_s > bound_s + late:
        raise Late(
            f"{what}: after {took_s:.2f} s, not within {bound_s:g} s and {late:.2f} s that the"
            " machine stood still"
        )


def until(what, seconds, check, processes=(), every=0.02):
    """Asks check() until it answers something true, and returns that. seconds: in which
    it usually does; patience(seconds) are waited.

    Between two questions it waits on the processes, so that it ends at once when one
    of them dies. check may raise OSError, which means "not yet"."""
    seconds = patience(seconds)
    every = max(every, EMULATED_EVERY_S) if VIRTUAL else every
    deadline = time.monotonic() + seconds
    poller = select.poll()
    for process in processes:
        poller.register(process.pidfd, select.POLLIN)
    seen = None
    while True:
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
        for fd, _ in poller.poll(1000 * min(every, left)):
            for process in processes:
                if process.pidfd == fd:
                    raise Overdue(f"{what}: {process.obituary()}")


def comes_true(seconds, check, every=0.02):
    """Whether check() does within so many seconds, where no is an answer, too."""
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True
