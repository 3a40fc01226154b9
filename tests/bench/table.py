"""Figures as lines of a table, each with its yardstick and its gate."""


def judge(row):
    """Adds ratio and verdict to a figure: a dict with name, unit, value, and optionally
    yardstick, yardstick_is and gate ("value <= 8", "ratio <= 2", "aim ratio <= 1")."""
    row["ratio"] = row["value"] / row["yardstick"] if row.get("yardstick") else None
    words = row.get("gate", "").split()
    row["verdict"] = ""
    if not words:
        return
    aim = words[0] == "aim"
    what, how, limit = words[1:] if aim else words
    value = row[what]
    held = value <= float(limit) if how == "<=" else value >= float(limit)
    if aim:
        row["verdict"] = "reached" if held else "not reached"
    else:
        row["verdict"] = "pass" if held else "FAIL"


def number(value):
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"


COLUMNS = "{:<50} {:>11} {:<9} {:>11} {:<15} {:>6}  {:<20} {}"
HEADER = COLUMNS.format("", "figure", "", "yardstick", "", "ratio", "gate", "").rstrip()


def line(row):
    """Returns the line of a judged figure."""
    return COLUMNS.format(
        row["name"],
        number(row["value"]),
        row["unit"],
        number(row.get("yardstick")),
        row.get("yardstick_is", ""),
        number(row["ratio"] and round(row["ratio"], 3)),
        row.get("gate", ""),
        row["verdict"],
    ).rstrip()
