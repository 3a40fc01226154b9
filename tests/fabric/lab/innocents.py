"""Which alerts on parts without a fault are errors of the product."""

from .machine import CLEAN_S, lost
from .wait import VIRTUAL

# An alert of one of these kinds on a part without a fault is an error, also on a busy machine.
VERDICTS = ("RackmeshRnic", "RackmeshTor", "RackmeshLink", "RackmeshSwitch", "RackmeshPath")
# An alert on a silent daemon is sent, and resolved, up to this many seconds later.
SILENCE_ALERT_S = 10


def is_held(arrival, since):
    """Whether an alert on a part without a fault is an error. An alert that an agent, a host or an
    aggregator is silent is true if the machine gave it no CPU time."""
    if VIRTUAL or arrival.alertname in VERDICTS:
        return True
    return lost(min(since, arrival.at - SILENCE_ALERT_S)) < CLEAN_S


def accused(arrivals, since, guilty):
    """The alerts on parts without a fault; since: when the scenario began. Prints those that
    the machine caused."""
    wrong = []
    for arrival in arrivals:
        if guilty(arrival):
            continue
        if is_held(arrival, since):
            wrong.append(str(arrival))
        else:
            print(f"the machine did not run for {lost(since):.1f} s, and so: {arrival}")
    return wrong
