"""Signals: what ends us runs all the undoing, and the undoing is not interrupted."""

import contextlib
import signal
import sys
import threading

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals(once=False):
    """SIGTERM and SIGHUP unwind as Ctrl-C does; that also where a shell that started us in
    the background has it ignored. once: as a part of a whole, all of which may be told, and
    then told by the whole."""
    if once:
        for number in _ENDING:
            signal.signal(number, _unwind_once)
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def _unwind_once(*_):
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextlib.contextmanager
def uninterrupted():
    """For taking away what was laid: an impatient second Ctrl-C must not stop it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended(command):
    """The exit status of a started process. Who tells us to end tells it, too, and waits."""
    while True:
        try:
            return command.wait()
        except KeyboardInterrupt:  # a terminal tells both of us
            continue
        except SystemExit:
            command.terminate()
