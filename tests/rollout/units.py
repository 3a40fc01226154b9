"""What a unit's process may do, as the kernel has it."""

import re

# What is asked of systemd about each unit, and what its file has to say of it.
KEYS = ("User", "Group", "StateDirectory", "DevicePolicy", "DeviceAllow", "IPAddressDeny",
        "NoNewPrivileges", "SystemCallArchitectures", "ProtectSystem", "RestrictNamespaces",
        "MemoryDenyWriteExecute")  # fmt: skip
CAPABILITIES = {"CAP_NET_BIND_SERVICE": 10, "CAP_NET_RAW": 13, "CAP_PERFMON": 38, "CAP_BPF": 39}
SECCOMP_FILTER = "2"


# What another line brings with it.
BRINGS = {"DeviceAllow": ("ProtectClock=yes", ["char-rtc", "r"])}


def written(text, key):
    """The values of a key in a unit file, all its lines in one list."""
    words = " ".join(re.findall(rf"^{key}=(.*)$", text, re.M)).split()
    line, more = BRINGS.get(key, (None, []))
    return words + (more if line in text.splitlines() else [])


def capabilities(text):
    """The mask of a unit's ambient capabilities."""
    return sum(1 << CAPABILITIES[name] for name in written(text, "AmbientCapabilities"))


def status(text):
    """Of /proc/PID/status: {key: words}."""
    return {key: value.split() for key, value in re.findall(r"^(\w+):\s*(.*)$", text, re.M)}


def same(shown, asked):
    """Whether systemd says what the unit file does."""
    means = {"any": ["0.0.0.0/0", "::/0"]}
    return set(shown) == {word for each in asked for word in means.get(each, [each])}
