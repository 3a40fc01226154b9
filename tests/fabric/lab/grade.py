"""Compares the alerts of known faults with the truth."""

import collections
import dataclasses

GRADES = ("right", "late", "vague", "missed", "wrong")  # best first


@dataclasses.dataclass
class Grade:
    """The grade of one case. name: the worst of its faults' GRADES; alerts: the highest number
    of alerts for one fault; innocents: alerts on parts that no fault concerns."""

    name: str
    seconds: float  # from the faults until the last of them was named; None: never
    alerts: int
    innocents: list

    def row(self):
        reported = "–" if self.seconds is None else f"{self.seconds:.1f} s"
        return f"{self.name}, {reported}, {self.alerts} alerts, {len(self.innocents)} innocents"


def is_vague(fault, arrival):
    """Whether the alert is on one of several parts: "A or B"."""
    parts = arrival.part.split(" or ")
    return len(parts) > 1 and fault.part in parts


def grade(faults, arrivals, at, within_s):
    """faults: those that have to be named (none: nothing may be named); arrivals: all alerts
    since they began; at: when they began."""
    firing = [each for each in arrivals if each.status == "firing"]
    opened = collections.Counter()
    names, seconds, explained = [], [], []
    for fault in faults:
        named = [each for each in firing if fault.names(each)]
        vague = [each for each in firing if is_vague(fault, each)]
        explained += named + vague
        opened[str(fault)] = len({each.annotations.get("incident", each.at) for each in named})
        if named:
            seconds.append(named[0].at - at)
            right = last_kind(arrivals, fault) == fault.kind
            names.append(
                "wrong" if not right else "right" if seconds[-1] <= within_s else "late"
            )
        else:
            names.append("vague" if vague else "missed")
    innocents = [str(each) for each in firing if each not in explained]
    name = max(names, key=GRADES.index, default="right")
    last_s = max(seconds) if faults and len(seconds) == len(faults) else None
    return Grade(name, last_s, max(opened.values(), default=0), innocents)


def last_kind(arrivals, fault):
    return [each for each in arrivals if fault.names(each)][-1].annotations["kind"]
