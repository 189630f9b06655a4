"""Starting Chromium with its debugging pipe on file descriptors 3 and 4."""

import asyncio
import contextlib
import fcntl
import os
import signal
import socket

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.spec import HostSpec
from user_handoff.desktop.identity import ProcessIdentity

_PIPE_BYTES = 1 << 20
_ABOVE_PIPE = 100

_DISABLED_FEATURES = (
    # what Playwright switches off, so that its view of the page is the one it was tested with
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    # ours: no bubble over the person's step
    "Translate,AutofillServerCommunication,PasswordLeakDetection,"
    # ours: each window would render two pages for its address bar before anybody types there, half of a browser's start
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
)

_ARGUMENTS = (
    "--remote-debugging-pipe",
    "--ozone-platform=x11",
    f"--disable-features={_DISABLED_FEATURES}",
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-field-trial-config",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-back-forward-cache",
    "--disable-breakpad",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--allow-pre-commit-input",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-updater-scheduler",
    "--disable-infobars",
    "--disable-stack-profiler",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
)


_INHERITED = frozenset(
    {
        *("HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"),
        *("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XAUTHORITY", "VIRTUAL_ENV"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
    }
)
_INHERITED_PREFIXES = ("FONTCONFIG_", "GTK_", "LC_", "PYTHON", "SSL_CERT_", "XDG_")


class Chromium:
    """A started Chromium.

    Attributes:
        identity: Its main process, a child of this one.
        writing: The end that takes commands.
        reading: The end that gives messages.
        ended: Set when the main process is gone.
        status: Its exit status, negative for a signal; None while it runs.
    """

    def __init__(self, pid: int, writing: socket.socket, reading: socket.socket, errors: int) -> None:
        self.identity = ProcessIdentity.of(pid)
        self.writing = writing
        self.reading = reading
        self.ended = asyncio.Event()
        self.status: int | None = None
        self._said = b""
        self._errors = errors
        self._process = os.pidfd_open(pid)
        loop = asyncio.get_running_loop()
        loop.add_reader(self._process, self._reap)
        loop.add_reader(errors, self._read_errors)

    @property
    def said(self) -> str:
        """The beginning of what it wrote on standard error, before it had opened any page of a person."""
        return self._said.decode(errors="replace")

    def forget_errors(self) -> None:
        """Throw away what it writes from now on: it may name pages."""
        self._said = b""
        self._keep = 0

    def kill(self) -> None:
        """End it at once; its other processes follow."""
        if self.status is None:
            os.kill(self.identity.pid, signal.SIGKILL)

    _keep = 4000

    def _read_errors(self) -> None:
        data = os.read(self._errors, 65536)
        self._said = (self._said + data)[: self._keep]
        if not data:
            asyncio.get_running_loop().remove_reader(self._errors)
            os.close(self._errors)

    def _reap(self) -> None:
        _, status = os.waitpid(self.identity.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        asyncio.get_running_loop().remove_reader(self._process)
        os.close(self._process)
        self.ended.set()


def arguments(spec: HostSpec) -> list[str]:
    """The command line of a browser: no secret and no page is in it."""
    own = [f"--user-data-dir={spec.profile}", f"--class={spec.window_class}"]
    # --test-type hides the bar that warns of the missing sandbox; it would cover the person's page
    unsafe = [] if spec.sandbox else ["--no-sandbox", "--test-type"]
    unseen = [] if spec.visible else ["--headless"]
    return [str(spec.executable), *_ARGUMENTS, *unsafe, *unseen, *own, "about:blank"]


def environment(spec: HostSpec) -> dict[str, str]:
    """What the browser needs of this process's environment, and the one display that it may use."""
    kept = inherited_environment()
    kept["DISPLAY"] = spec.display
    if spec.xauthority is not None:
        kept["XAUTHORITY"] = str(spec.xauthority)
    return kept


def inherited_environment() -> dict[str, str]:
    """This process's environment without what is not known to be needed: keys and tokens stay with the runner."""
    return {k: v for k, v in os.environ.items() if k in _INHERITED or k.startswith(_INHERITED_PREFIXES)}


def start_chromium(spec: HostSpec) -> Chromium:
    """Start Chromium; it ends by itself when this process does, since its pipe closes. Call it within the event loop.

    Raises:
        SetupError: `chromium_failed`: the executable cannot be run.
    """
    writing, commands = _pair()
    reading, messages = _pair()
    errors, said = os.pipe()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, said)
        stack.enter_context(commands)
        stack.enter_context(messages)
        try:
            pid = _spawn(spec, commands.fileno(), messages.fileno(), said)
        except OSError as error:
            raise SetupError(
                ErrorCode.CHROMIUM_FAILED,
                f"The browser {spec.executable} cannot be run: {error.strerror}.",
                holds="Nothing was started.",
                do_next="Name a Chromium that runs with HANDOFF_CHROMIUM.",
            ) from error
    return Chromium(pid, writing, reading, errors)


def _spawn(spec: HostSpec, commands: int, messages: int, said: int) -> int:
    # moved up first, so that none of the three is 3 or 4 before the child's own are placed
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _ABOVE_PIPE) for end in (commands, messages, said)]
    try:
        return os.posix_spawn(
            spec.executable,
            arguments(spec),
            environment(spec),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, moved[2], 2),
                (os.POSIX_SPAWN_DUP2, moved[0], 3),
                (os.POSIX_SPAWN_DUP2, moved[1], 4),
            ],
        )
    finally:
        for end in moved:
            os.close(end)


def _pair() -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PIPE_BYTES)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIPE_BYTES)
    ours.setblocking(False)
    return ours, theirs
