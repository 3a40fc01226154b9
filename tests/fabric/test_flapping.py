"""An RNIC that fails again and again: from the third time on it is one incident with its rate, of
which receivers get one opening and one end, also if the standby takes over meanwhile."""

from lab.faults import RnicDead
from lab.pairs import PairWorld
from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"]}
FIRES_S, RESOLVES_S, NOTED_S, TURNS_S = 10, 25, 15, 20
GOOD_S = 6  # between two failures; with up to 5 s the part counts as bad all the time
QUIET_S = 90
TIMES = 5


def incident_of(aggregator, name):
    reported = aggregator.get("/v1/incidents?open=1").json["incidents"]
    return next((each for each in reported if each["part"] == name), None)


def noted(aggregator, name, returns, good):
    incident = incident_of(aggregator, name)
    return (incident and incident["flapping"] and incident["flapping"]["returns"] == returns
            and bool(incident["good_since"]) == good and incident)


def test_an_rnic_that_fails_again_and_again_is_one_incident(world, print_line):
    rack = world(RACKS, alertmanager=False).start()
    aggregator = rack.lab.aggregators["tor1"]
    rnic, mark = rack.rnic("h2/r0"), rack.plain.mark()
    fault = RnicDead(rack.lab, rnic)
    for time in range(TIMES):
        before = rack.plain.mark()
        fault.begin()
        if time < 3:
            rack.plain.wait_for(fault.fires, FIRES_S, before, f"failure {time + 1}")
        else:
            until(f"failure {time + 1} is counted", NOTED_S,
                  lambda: noted(aggregator, rnic.name, time, good=False))
        fault.end()
        if time < 2:
            rack.plain.wait_for(fault.resolves, RESOLVES_S, before, f"the end of failure {time + 1}")
        else:
            until(f"it works after failure {time + 1}", NOTED_S,
                  lambda: noted(aggregator, rnic.name, time, good=True))
        if time < TIMES - 1:
            rack.plain.silence(GOOD_S, rack.plain.mark())
    flapping = incident_of(aggregator, rnic.name)["flapping"]
    assert 1 < flapping["per_minute"] < 20, flapping
    rack.plain.wait_for(fault.resolves, QUIET_S, rack.plain.mark(), "the end of flapping")
    assert incident_of(aggregator, rnic.name) is None
    came = rack.plain.since(mark)
    assert [each.status for each in came] == 3 * ["firing", "resolved"], [str(each) for each in came]
    assert all(fault.names(each) for each in came)
    assert [bool(each.annotations["flapping"]) for each in came] == 4 * [False] + 2 * [True]
    assert f"it came back {TIMES - 1} times within" in came[-1].annotations["flapping"]
    print_line(f"{rnic.name}: {came[-1].annotations['flapping']}")


def test_a_standby_that_takes_over_continues_the_flapping(tmp_path, print_line):
    with PairWorld(RACKS, tmp_path) as pair:
        lab = pair.start().lab
        first, second = lab.aggregators["tor1"], lab.seconds["tor1"]
        until("the primary is active", TURNS_S, lambda: lab.active_aggregators("tor1") == [first.name])
        mark = pair.grouped.mark()
        fault = RnicDead(lab, pair.rnic("h2/r0"))
        for time in range(3):
            before = pair.grouped.mark()
            fault.begin()
            pair.grouped.wait_for(fault.fires, FIRES_S, before, f"failure {time + 1}")
            fault.end()
            if time < 2:
                pair.grouped.wait_for(fault.resolves, RESOLVES_S, before, f"the end of failure {time + 1}")
            pair.grouped.silence(GOOD_S, pair.grouped.mark())
        until("the standby knows that it works", NOTED_S, lambda: noted(second, "h2/r0", 2, good=True))
        before = incident_of(second, "h2/r0")["id"]
        first.kill()
        until("the standby is active", TURNS_S,
              lambda: second.get("/v1/racks").json["racks"][0]["active"])
        fault.begin()
        until("failure 4 is counted", NOTED_S, lambda: noted(second, "h2/r0", 3, good=False))
        fault.end()
        until("it works after failure 4", NOTED_S, lambda: noted(second, "h2/r0", 3, good=True))
        assert incident_of(second, "h2/r0")["id"] == before
        came = [each.status for each in pair.grouped.since(mark) if fault.names(each)]
        assert came == ["firing", "resolved", "firing", "resolved", "firing"], came
        pair.grouped.wait_for(fault.resolves, QUIET_S, pair.grouped.mark(), "the end of flapping")
        assert incident_of(second, "h2/r0") is None
        flapping = pair.grouped.since(mark)[-1].annotations["flapping"]
        assert flapping.startswith("it came back 3 times within"), flapping
        print_line(f"{second.name}, which took over: {flapping}")
