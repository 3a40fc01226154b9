"""The output of the demo."""

import os
import sys
import textwrap


class DemoOutput:
    """Prints the demo's steps, in colours if the output is a terminal."""

    WIDTH = 92

    def __init__(self, chapter=0):
        """chapter: the number of the last chapter that was already printed elsewhere."""
        self._colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self.number = chapter

    def _paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self._colours else text

    def chapter(self, title):
        self.number += 1
        print(f"\n{self._paint('1', f'{self.number}. {title}')}", flush=True)

    def text(self, text):
        print(textwrap.fill(text, self.WIDTH, initial_indent="   ", subsequent_indent="   "))
        sys.stdout.flush()

    def came_true(self, text):
        """Prints an expectation that has come true."""
        mark = self._paint("32", "ok")
        body = textwrap.fill(text, self.WIDTH - 3, subsequent_indent="      ")
        print(f"   {mark} {body}", flush=True)

    def quote(self, text):
        """Prints text from Rackmesh itself."""
        for each in textwrap.wrap(text, self.WIDTH - 6):
            print(f"      {self._paint('33', each)}", flush=True)

    def plain(self, text):
        print(textwrap.indent(text.rstrip("\n"), "   "), flush=True)

    def failure(self, text):
        print(f"\n{self._paint('31', 'not as promised')}: {text}", flush=True)
