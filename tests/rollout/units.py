"""The rights of a unit's process, as the kernel sees them."""

import re

# The properties that systemd is asked for, and the lines of the unit file that set them.
KEYS = ("User", "Group", "StateDirectory", "DevicePolicy", "DeviceAllow", "IPAddressDeny",
        "NoNewPrivileges", "SystemCallArchitectures", "ProtectSystem", "RestrictNamespaces",
        "MemoryDenyWriteExecute")  # fmt: skip
CAPABILITIES = {"CAP_NET_BIND_SERVICE": 10, "CAP_NET_RAW": 13, "CAP_PERFMON": 38, "CAP_BPF": 39}
SECCOMP_FILTER = "2"


# Rights that another line of the unit file implies.
BRINGS = {"DeviceAllow": ("ProtectClock=yes", ["char-rtc", "r"])}


def written(text, key):
    """All values of a key in a unit file, as one list."""
    words = " ".join(re.findall(rf"^{key}=(.*)$", text, re.M)).split()
    line, more = BRINGS.get(key, (None, []))
    return words + (more if line in text.splitlines() else [])


def capabilities(text):
    """The mask of a unit's ambient capabilities."""
    return sum(1 << CAPABILITIES[name] for name in written(text, "AmbientCapabilities"))


def status(text):
    """/proc/PID/status as {key: words}"""
    return {key: value.split() for key, value in re.findall(r"^(\w+):\s*(.*)$", text, re.M)}


def same(shown, asked):
    """True: systemd's properties match the unit file."""
    means = {"any": ["0.0.0.0/0", "::/0"]}
    return set(shown) == {word for each in asked for word in means.get(each, [each])}
