#!/usr/bin/env python3
"""Manual pages and shell completion, made from the help texts of the programs.

of_help.py man|bash|zsh PROGRAM FILE

A daemon's page has its --help and --help-config, that of rackmeshctl the --help of every
command. A text that cannot be read is an error, which ends the build: nothing goes stale."""

import pathlib
import re
import subprocess
import sys
import textwrap

TIERS = "agent aggregator controller analyzer"


class Option:
    def __init__(self, names, value):
        self.names = names  # ["-t", "--through"]
        self.value = value  # "TIER", or None

    @property
    def is_file(self):
        return self.value in ("FILE", "FOLDER") or self.names[-1].endswith("-file")

    @property
    def is_tier(self):
        return self.names[-1] == "--through"


class Command:
    """The arguments that may follow it: options, words, and perhaps a file."""

    def __init__(self, name, summary):
        self.name = name
        self.summary = summary
        self.options = {}  # "--tor" -> Option
        self.words = []
        self.takes_file = False

    def read_usage(self, syntax):
        """Reads a usage line such as "[--tor TOR] check FILE | show [FILE]"."""
        for word in self.read_options(re.sub(r"[\[\]|]", " ", syntax)):
            if word == "FILE":
                self.takes_file = True
            elif re.fullmatch("[a-z]+", word) and word not in self.words:
                self.words.append(word)

    def read_options(self, syntax):
        """Of "--retention-raw 14d, --follow". Returns the other words."""
        words, others = syntax.replace(",", " ").split(), []
        while words:
            word = words.pop(0)
            if word.startswith("--"):
                has_value = words and not words[0].startswith("--")
                option = Option([word], words.pop(0) if has_value else None)
                self.options.setdefault(word, option)
            else:
                others.append(word)
        return others


class Program:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.name = self.path.name
        self.version = self.says("--version").split()[-1]
        self.help = self.says("--help")
        self.options = [
            Option([*filter(None, (short, long))], value)
            for short, long, value in re.findall(
                r"^ +(?:(-\w), )?(--[a-z-]+)(?: ([A-Z]+))?", self.help, re.M
            )
        ]
        self.commands = {}
        listed = self.help.split("Options:\n")[0]
        for name, summary in re.findall(r"^  ([a-z]+)\b.*?  +(\S[^\n]*)$", listed, re.M):
            # The summary is the last column; the arguments may stand before it.
            self.commands.setdefault(name, Command(name, re.split("   *", summary)[-1]))
        for command in self.commands.values():
            self._read_command(command)
        if not self.options:
            raise SystemExit(f"{self.name} --help names no options")

    def says(self, *words):
        return subprocess.run(
            [self.path, *words], stdout=subprocess.PIPE, check=True, text=True
        ).stdout

    def _read_command(self, command):
        for line in self.says(command.name, "--help").splitlines():
            usage = re.match(rf"(?:usage: )?{self.name} +{command.name}\b(.*)", line)
            if usage:
                command.read_usage(usage[1])
            elif line.startswith("  --"):
                command.read_options(re.split("  +", line.strip())[0])
        if "--through" in command.options:
            command.options["--through"] = Option(["--through"], "TIER")


# ---- manual pages ---------------------------------------------------------------


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def verbatim(text):
    return f".nf\n{roff(text.rstrip())}\n.fi"


def config_options(program):
    """--help-config: a comment, then for each option a line with its range, and in the next,
    deeper by 4, what it means; a table's options follow, deeper by 4 once more."""
    level = 0
    comment, *lines = program.says("--help-config").splitlines()
    yield roff(comment.removeprefix("# "))
    assert len(lines) % 2 == 0, lines
    for head, text in zip(lines[::2], lines[1::2]):
        depth = (len(head) - len(head.lstrip())) // 4
        yield from [".RS"] * (depth - level) + [".RE"] * (level - depth)
        level = depth
        yield f".TP\n{roff(head.strip())}\n{roff(text.strip())}"
    yield from [".RE"] * level


def daemon_page(program):
    usage = re.search(r"^usage: (.*)$", program.help, re.M)[1]
    options = "".join(re.findall(r"^  (--.*\n)", program.help, re.M))
    yield f".SH SYNOPSIS\n{verbatim(usage)}"
    yield f".SH OPTIONS\n{verbatim(options)}"
    yield ".SH CONFIGURATION\nAll options, with their ranges and defaults:"
    yield from config_options(program)
    yield ".SH SIGNALS\nSIGHUP reads the configuration again; SIGTERM ends the daemon."
    yield f".SH FILES\n/etc/rackmesh/{roff(program.name)}.yaml"
    yield ".SH SEE ALSO\nrackmeshctl(1), /usr/share/doc/rackmesh"


def ctl_page(program):
    usage = re.search(r"^usage: (.*)$", program.help, re.M)[1]
    yield f".SH SYNOPSIS\n{verbatim(usage)}\n.SH COMMANDS"
    for command in program.commands:
        text = program.says(command, "--help").split("\nAddresses of daemons")[0]
        yield f".SS {command}\n{verbatim(text.removeprefix('usage: '))}"
    yield f".SH OPTIONS\n{verbatim(program.help.split('Options:')[1].strip())}"
    yield ".SH SEE ALSO\n" + ", ".join(
        f"{roff(name)}(8)"
        for name in ("host-agent", "tor-aggregator", "region-controller", "analyzer")
    )


def man(program):
    section, summary, page = 1, "shows and changes what the daemons know", ctl_page
    if not program.commands:
        summary = re.match(r"\S+ - (.*)", program.help)[1]
        section, page = 8, daemon_page
    yield f'.TH {roff(program.name.upper())} {section} "" "Rackmesh {program.version}" Rackmesh'
    yield f".SH NAME\n{roff(program.name)} \\- {roff(summary)}"
    yield from page(program)


# ---- completion -----------------------------------------------------------------


def names(options):
    return [name for option in options for name in option.names]


def every_option(program):
    for command in program.commands.values():
        yield from command.options.values()
    yield from program.options


def case(options, action):
    patterns = "|".join(dict.fromkeys(names(options)))
    return f"{patterns})\n\t{action}\n\treturn\n\t;;" if patterns else ""


def values(program, of_file, of_tier):
    """Returns the completion of the word after an option."""
    options = [o for o in every_option(program) if o.value or o.is_file]
    files = [o for o in options if o.is_file]
    tiers = [o for o in options if o.is_tier]
    others = [o for o in options if not o.is_file and not o.is_tier]
    cases = (case(files, of_file), case(tiers, of_tier), case(others, ":"))
    return "\n".join(filter(None, cases))


def words_of(program):
    """Returns a case for each command, with the arguments that may follow it."""
    general = names(program.options)
    for command in program.commands.values():
        own = [option for option in command.options if option not in general]
        words = " ".join([*command.words, *own])
        files = " files=yes" if command.takes_file else ""
        yield f'{command.name}) follows="{words}"{files} ;;'


def common(program):
    """Options that every command takes."""
    return " ".join(option.names[-1] for option in program.options)


def indent(text, tabs):
    return textwrap.indent(text, "\t" * tabs)


def bash(program):
    function = "_rackmesh_" + program.name.replace("-", "_")
    of_file = 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")'
    of_tier = f'mapfile -t COMPREPLY < <(compgen -W "{TIERS}" -- "$cur")'
    commands = " ".join(program.commands)
    cases = "\n".join([f"'') follows=\"{commands}\" ;;", *words_of(program)])
    return f"""# Completion for bash, made from the program's --help.
{function}()
{{
	local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
	local command= follows= files= i
	COMPREPLY=()
	case $prev in
{indent(values(program, of_file, of_tier), 1)}
	esac
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${{COMP_WORDS[i]}} in
		{"|".join(names(o for o in program.options if o.value))}) ((++i)) ;;
		-*) ;;
		*)
			command=${{COMP_WORDS[i]}}
			break
			;;
		esac
	done
	case $command in
{indent(cases, 1)}
	esac
	follows+=" {common(program)}"
	mapfile -t COMPREPLY < <(compgen -W "$follows" -- "$cur")
	[[ -z $files ]] ||
		mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -f -- "$cur")
}}
complete -o filenames -F {function} {program.name}
"""


def zsh(program):
    commands = "\n".join(
        "\t'{}:{}'".format(c.name, c.summary.replace("'", "'\\''"))
        for c in program.commands.values()
    )
    cases = "\n".join(words_of(program))
    return f"""#compdef {program.name}

local command follows files i
local -a commands
case ${{words[CURRENT-1]}} in
{values(program, "_files", f"compadd {TIERS}")}
esac
for ((i = 2; i < CURRENT; i++)); do
	case ${{words[i]}} in
	{"|".join(names(o for o in program.options if o.value))}) ((++i)) ;;
	-*) ;;
	*)
		command=${{words[i]}}
		break
		;;
	esac
done
commands=(
{commands}
)
case $command in
'') ((${{#commands}} == 0)) || _describe command commands ;;
{cases}
esac
compadd -- ${{=follows}} {common(program)}
[[ -z $files ]] || _files
"""


def main(kind, path, into):
    program = Program(path)
    make = {"man": lambda of: "\n".join(man(of)) + "\n", "bash": bash, "zsh": zsh}[kind]
    pathlib.Path(into).write_text(make(program))


if __name__ == "__main__":
    main(*sys.argv[1:])
