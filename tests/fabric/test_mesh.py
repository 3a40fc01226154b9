"""The loss of one pair in one direction shows in that pair of the rack's mesh, and in no other."""

from lab.wait import until

RACKS = {"tor1": ["h1", "h2", "h3", "h4"], "tor2": ["h5", "h6"]}
PAIRS = 4 * 3
PROBED_S, SHOWS_S = 20, 10
ENOUGH = 20  # probes


def mesh(world, period="hour"):
    """{(from, to): {column: figure}} of tor1, from the analyzer's answer."""
    answer = world.lab.analyzer.get(f"/v1/mesh/tor1?period={period}")
    assert answer.ok, answer
    reported = answer.json
    names = [f"{each['host']}/{each['device']}" for each in reported["rnics"]]
    rows = [dict(zip(reported["columns"], row, strict=True)) for row in reported["pairs"]]
    assert names == sorted(names) and reported["pairs_refused"] == 0
    return {(names[row["from"]], names[row["to"]]): row for row in rows}


def knows_mesh(world):
    return world.lab.analyzer.get("/v1/mesh/tor1").ok


def grown(before, after, column):
    return {pair: after[pair][column] - before[pair][column] for pair in after}


def is_probed(world, before=None):
    """Returns the mesh once enough probes of every pair were answered (since `before`); until
    then a false value."""
    after = mesh(world)
    have = {pair: row["ok"] - (before[pair]["ok"] if before else 0) for pair, row in after.items()}
    return len(after) == PAIRS and min(have.values()) >= ENOUGH and after


def shows(world, before, pair):
    """Returns the mesh once that pair has lost enough probes, most of them on the way out, and
    all others have sent probes; until then a false value."""
    after = mesh(world)
    lost = grown(before, after, "no_reply")[pair]
    forward, reverse = after[pair]["lost_forward"], after[pair]["lost_reverse"]
    reported = lost >= ENOUGH and forward is not None and forward >= ENOUGH / 2
    probed = min(grown(before, after, "sent").values()) >= ENOUGH
    return reported and probed and forward > 3 * reverse and after


def worst_racks(world, *words):
    """The output of rackmeshctl for pairs of racks: its first line, and the words of each row."""
    reported = world.lab.ctl_run("analyzer", "mesh", "--region", "lab", *words)
    lines = reported.stdout.splitlines()
    return lines[0], [line.split() for line in lines[4:]]


def racks_are_listed_worst_first(world, print_line):
    """Of the four pairs of two racks, the rack with the lossy pair is first."""
    def leads():
        head, rows = worst_racks(world, "--hour")
        return len(rows) == 4 and "4 pairs of racks are probed" in head and rows

    rows = until("all four are reported", SHOWS_S, leads)
    until("its loss leads", SHOWS_S, lambda: worst_racks(world, "--hour")[1][0][:2] == ["tor1", "tor1"])
    rows = worst_racks(world, "--hour")[1]
    print_line(world.lab.ctl_run("analyzer", "mesh").stdout)
    assert [float(row[4]) for row in rows] == sorted((float(row[4]) for row in rows), reverse=True)
    assert int(rows[0][3]) >= ENOUGH
    head, one = worst_racks(world, "--hour", "--rtt", "--top", "1")
    assert len(one) == 1 and float(one[0][8]) > 0, (head, one)
    nowhere = world.lab.ctl_run("analyzer", "mesh", "--region", "elsewhere")
    assert nowhere.returncode == 1 and "No pair was probed" in nowhere.stdout


def test_the_loss_of_one_pair_shows_only_in_its_cell_of_the_mesh(world, print_line):
    whole = world(RACKS, analyzer={}, alertmanager=False).start()
    prober, target = whole.rnic("h2/r0"), whole.rnic("h4/r0")
    pair = (prober.name, target.name)

    until("the analyzer has a summary of the rack", PROBED_S, lambda: knows_mesh(whole))
    before = until("every pair is probed", PROBED_S, lambda: is_probed(whole))
    assert all(row["rtt_p50_ns"] <= row["rtt_p99_ns"] for row in before.values())

    # The prober's probes to the target are dropped; its replies to the target's probes are not.
    whole.fabric.drop(target, send=False, which=f"ip saddr {prober.ipv4} udp dport 862")
    after = until("it shows", SHOWS_S, lambda: shows(whole, before, pair))
    eaten = whole.fabric.dropped(target)[1]
    lost, sent = grown(before, after, "no_reply"), grown(before, after, "sent")
    print_line(f"{pair}: {after[pair]}, {eaten} packets dropped")
    assert eaten >= ENOUGH
    assert ENOUGH <= lost[pair] <= eaten
    for other in after.keys() - {pair}:
        # If the machine stands still, other pairs lose some probes, too.
        assert lost[other] * 10 <= sent[other], f"{other}: {after[other]}"
    minute = mesh(whole, "minute")
    assert minute[pair]["no_reply"] >= ENOUGH
    words = whole.lab.ctl_run("analyzer", "mesh", "tor1").stdout
    print_line(words)
    worst = words[words.index("The worst") :].splitlines()[2]
    assert worst.split()[:2] == list(pair)

    racks_are_listed_worst_first(whole, print_line)

    whole.fabric.heal(target)
    healed = mesh(whole)
    until("it is answered again", PROBED_S, lambda: is_probed(whole, healed))
