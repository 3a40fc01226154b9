"""An RNIC that fails again and again, with minutes in between or seconds: from the third time on it is
one incident with its rate, which all receivers get once."""

from lab.faults import RnicDead
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
FIRES_S, RESOLVES_S, NOTED_S = 10, 25, 15
GOOD_S = 6  # between two failures; with up to 5 s the part counts as bad all the time
QUIET_S = 90
TIMES = 5


def incident_of(world, name):
    reported = world.lab.aggregators["tor1"].get("/v1/incidents?open=1").json["incidents"]
    return next((each for each in reported if each["part"] == name), None)


def noted(world, name, returns, good):
    incident = incident_of(world, name)
    return (incident and incident["flapping"] and incident["flapping"]["returns"] == returns
            and bool(incident["good_since"]) == good and incident)


def test_an_rnic_that_fails_again_and_again_is_one_incident(world, print_line):
    rack = world(RACKS, alertmanager=False).start()
    rnic, mark = rack.rnic("h2/r0"), rack.plain.mark()
    fault = RnicDead(rack.lab, rnic)
    for time in range(TIMES):
        before = rack.plain.mark()
        fault.begin()
        if time < 3:
            rack.plain.wait_for(fault.fires, FIRES_S, before, f"failure {time + 1}")
        else:
            until(f"failure {time + 1} is counted", NOTED_S,
                  lambda: noted(rack, rnic.name, time, good=False))
        fault.end()
        if time < 2:
            rack.plain.wait_for(fault.resolves, RESOLVES_S, before, f"the end of failure {time + 1}")
        else:
            until(f"it works after failure {time + 1}", NOTED_S,
                  lambda: noted(rack, rnic.name, time, good=True))
        if time < TIMES - 1:
            rack.plain.silence(GOOD_S, rack.plain.mark())
    flapping = incident_of(rack, rnic.name)["flapping"]
    assert 1 < flapping["per_minute"] < 20, flapping
    rack.plain.wait_for(fault.resolves, QUIET_S, rack.plain.mark(), "the end of flapping")
    assert incident_of(rack, rnic.name) is None
    came = rack.plain.since(mark)
    assert [each.status for each in came] == 3 * ["firing", "resolved"], [str(each) for each in came]
    assert all(fault.names(each) for each in came)
    assert [bool(each.annotations["flapping"]) for each in came] == 4 * [False] + 2 * [True]
    assert f"it came back {TIMES - 1} times within" in came[-1].annotations["flapping"]
    print_line(f"{rnic.name}: {came[-1].annotations['flapping']}")
