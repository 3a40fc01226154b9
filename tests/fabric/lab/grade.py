"""What an operator was told of known faults, held against the truth."""

import collections
import dataclasses

GRADES = ("right", "late", "vague", "missed", "wrong")  # best first


@dataclasses.dataclass
class Grade:
    """Of one case. name: the worst of its faults' GRADES; alerts: how many were opened for
    one fault at most; innocents: alerts on parts that nobody has broken."""

    name: str
    seconds: float  # until the last of them was named; None: never
    alerts: int
    innocents: list

    def row(self):
        told = "–" if self.seconds is None else f"{self.seconds:.1f} s"
        return f"{self.name}, {told}, {self.alerts} alerts, {len(self.innocents)} innocents"


def is_vague(fault, arrival):
    """Its part is told as one of several: "A or B"."""
    parts = arrival.part.split(" or ")
    return len(parts) > 1 and fault.part in parts


def grade(faults, arrivals, at, within_s):
    """faults: which have to be named, none where nobody is to be; arrivals: all that came
    since; at: when they began."""
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
