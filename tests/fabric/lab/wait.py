"""Waiting for what must come true, with a deadline: never a blind sleep."""

import select
import time


class Overdue(AssertionError):
    """Something did not come true in time; says what, and what was seen instead."""


def until(what, seconds, check, processes=(), every=0.02):
    """Asks check() until it answers something true, and returns that.

    Between two questions it waits on the processes, so that it ends at once when one
    of them dies. check may raise OSError, which means "not yet"."""
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
