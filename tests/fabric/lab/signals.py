"""Signals: a signal that ends this process first undoes everything, and the undoing is not
interrupted."""

import contextlib
import signal
import sys
import threading

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_on_signals(once=False):
    """SIGTERM and SIGHUP end the process like Ctrl-C, by an exception; also if a shell that
    started it in the background has made it ignore them. once: for a process of a
    group in which all may get the signal, and get it again from their parent: later signals are
    ignored."""
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
    """A context for undoing: a second, impatient Ctrl-C does not interrupt it."""
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
    """Waits for the end of a started process, and returns its exit status. A signal to end is
    passed on to it."""
    while True:
        try:
            return command.wait()
        except KeyboardInterrupt:  # a terminal sends it to both processes
            continue
        except SystemExit:
            command.terminate()
