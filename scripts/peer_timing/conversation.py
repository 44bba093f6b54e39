"""A child process that answers a line of text with a line of JSON (docs/formats/blocks.md)."""
import json
import os
import select
import signal
import subprocess
import tempfile
import time


class Fault(Exception):
    """The child gave no answer: it died, was late, or wrote what is no answer."""

    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status


class Child:
    """Its own process group, which ends with the object: compilers start further processes."""

    def __init__(self, command, environment=None):
        self._words = tempfile.TemporaryFile()
        self._rest = b""
        self._is_closed = False
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._words,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        except OSError as error:
            raise Fault("Crashed", f"{command[0]} does not start: {error}") from error

    def ask(self, line, timeout_s):
        """The answer to `line`, or the next one when it is None. Raises Fault and ends the child."""
        if self._is_closed:
            raise Fault("Crashed", f"its process was ended: {self._words_so_far()}")
        try:
            if line is not None:
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()
            text = self._read_line(time.monotonic() + timeout_s)
        except BrokenPipeError:
            text = b""
        except TimeoutError:
            self.close()
            raise Fault("TimedOut", f"no answer within {timeout_s:.0f} s") from None
        if not text:
            raise Fault("Crashed", self._last_words())
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self.close()
            raise Fault("Crashed", f"expected a line with a JSON object, found {text[:200]!r}")
        return answer

    def _read_line(self, deadline):
        while b"\n" not in self._rest:
            left = max(deadline - time.monotonic(), 0.0)
            if not select.select([self._process.stdout], [], [], left)[0]:
                raise TimeoutError
            piece = os.read(self._process.stdout.fileno(), 1 << 16)
            if not piece:
                return b""
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _last_words(self):
        self.close()
        return self._words_so_far()

    def _words_so_far(self):
        self._words.seek(0)
        words = self._words.read().decode(errors="replace").strip()
        return words[-2000:] or f"it ended with exit code {self._process.returncode}"

    def close(self):
        """Lets it end at the end of its input, then ends its group. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
