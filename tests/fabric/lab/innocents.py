"""Who may not be named although nobody has broken it."""

from .machine import CLEAN_S, lost
from .wait import VIRTUAL

# Who says one of these without a reason accuses an innocent, whatever the machine does.
VERDICTS = ("RackmeshRnic", "RackmeshTor", "RackmeshLink", "RackmeshSwitch", "RackmeshPath")
# That somebody was silent is told, and told to be over, by so much later.
TELLS_OF_S = 10


def is_held(arrival, since):
    """Whether an alert on nobody's fault speaks against the product. That an agent, a host
    or an aggregator was silent is true where the machine did not let it run."""
    if VIRTUAL or arrival.alertname in VERDICTS:
        return True
    return lost(min(since, arrival.at - TELLS_OF_S)) < CLEAN_S


def accused(arrivals, since, guilty):
    """Those that are named without a reason; since: when the story began. What the machine
    has to answer for is printed."""
    wrong = []
    for arrival in arrivals:
        if guilty(arrival):
            continue
        if is_held(arrival, since):
            wrong.append(str(arrival))
        else:
            print(f"the machine stood still for {lost(since):.1f} s, and so: {arrival}")
    return wrong
