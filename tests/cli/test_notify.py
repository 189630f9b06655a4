"""Whom a server tells: what the environment and the command line say."""

import asyncio
import base64
import os
import re
import signal
from pathlib import Path

import psutil
import pytest
from temporalio.client import Client

from tests.cli.conftest import SECONDS, Handoff, clean_environment, command
from tests.receiver import receiving
from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.notify import NotifyOptions, notifying, read_settings, without_ours
from user_handoff.cli.state_files import Part
from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.plugin import HandoffPlugin

FIRST, SECOND = (f"whsec_{base64.b64encode(bytes([n]) * 32).decode()}" for n in (1, 2))


def test_channels_and_endpoints_have_names_secrets_and_what_they_were_chosen_for() -> None:
    settings = read_settings(
        NotifyOptions(),
        {
            "HANDOFF_NOTIFY": "console\nphone=json://127.0.0.1/a?b=c desk=webhook+https://desk.example/asked jsons://h/x",
            "HANDOFF_NOTIFY_LINK": "phone",
            "HANDOFF_NOTIFY_REMIND": "120 -60",
            "HANDOFF_NOTIFY_WEBHOOKS": "audit=https://audit.example/a http://127.0.0.1:9/b",
            "HANDOFF_NOTIFY_SECRETS": f"desk={FIRST} audit={FIRST},{SECOND} webhook={FIRST}",
            "HANDOFF_NOTIFY_DETAILS": "audit",
        },
    )
    assert [(c.name, c.kind, c.link, c.info.dedupes) for c in settings.channels] == [
        ("console", "console", False, False),
        ("phone", "apprise", True, False),
        ("desk", "webhook", False, True),
        ("jsons", "apprise", False, False),
    ]
    assert settings.channels[1].url.get_secret_value() == "json://127.0.0.1/a?b=c"
    assert [(e.name, len(e.secrets), e.details) for e in settings.endpoints] == [
        ("audit", 2, True),
        ("webhook", 1, False),
    ]
    assert settings.reminders == (120, -60)


def test_the_command_line_wins() -> None:
    environ = {"HANDOFF_NOTIFY": "json://127.0.0.1/a", "HANDOFF_NOTIFY_REMIND": "9"}
    options = NotifyOptions(channels=("console",), links=("console",), reminders=(-30.0,))
    settings = read_settings(options, environ)
    assert [(c.kind, c.link) for c in settings.channels] == [("console", True)]
    assert settings.reminders == (-30,)
    assert options.arguments() == ["--notify=console", "--notify-link=console", "--remind=-30"]
    assert read_settings(NotifyOptions(channels=("none",)), environ).channels == ()


def test_nothing_configured_tells_nobody() -> None:
    settings = read_settings(NotifyOptions(), {})
    assert (settings.channels, settings.endpoints, settings.reminders) == ((), (), ())


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"HANDOFF_NOTIFY": "canary://canary-token"}, "this: entry 1 of HANDOFF_NOTIFY: no service of Apprise's"),
        (
            {"HANDOFF_NOTIFY": "console https://canary.example/hook"},
            "entry 2 of HANDOFF_NOTIFY: no service of Apprise's",
        ),
        ({"HANDOFF_NOTIFY": "a=webhook+https://canary.example"}, "add a=whsec_… to HANDOFF_NOTIFY_SECRETS"),
        ({"HANDOFF_NOTIFY": "console console"}, "two have the name console"),
        ({"HANDOFF_NOTIFY": "console", "HANDOFF_NOTIFY_LINK": "phone"}, "HANDOFF_NOTIFY_LINK names phone"),
        ({"HANDOFF_NOTIFY_REMIND": "soon"}, "reminders"),
        ({"HANDOFF_NOTIFY_REMIND": "900"}, "1 to 600 seconds"),
        ({"HANDOFF_NOTIFY_WEBHOOKS": "a=https://canary.example"}, "add a=whsec_… to HANDOFF_NOTIFY_SECRETS"),
        (
            {"HANDOFF_NOTIFY_WEBHOOKS": "a=http://canary.example", "HANDOFF_NOTIFY_SECRETS": f"a={FIRST}"},
            "must be https",
        ),
        ({"HANDOFF_NOTIFY_WEBHOOKS": "a=ftp://canary.example", "HANDOFF_NOTIFY_SECRETS": f"a={FIRST}"}, "must be like"),
        (
            {"HANDOFF_NOTIFY_WEBHOOKS": "a=https://me:canary@h.example", "HANDOFF_NOTIFY_SECRETS": f"a={FIRST}"},
            "must be like",
        ),
        ({"HANDOFF_NOTIFY_WEBHOOKS": "a=https://h.example", "HANDOFF_NOTIFY_SECRETS": "a=canary"}, "whsec_"),
        ({"HANDOFF_NOTIFY_WEBHOOKS": "a=https://h.example", "HANDOFF_NOTIFY_SECRETS": f"b={FIRST}"}, "names b"),
        ({"HANDOFF_NOTIFY": " ".join(f"a{n}=console" for n in range(9))}, "at most 8"),
    ],
)
def test_what_does_not_fit_together_is_refused_without_telling_any_of_it(environ: dict[str, str], says: str) -> None:
    with pytest.raises(Refused) as refused:
        read_settings(NotifyOptions(), environ)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert says in str(refused.value) and "Value error" not in str(refused.value)
    assert "canary" not in str(refused.value.to_dict()) and FIRST not in str(refused.value.to_dict())


def test_plain_http_elsewhere_has_to_be_allowed() -> None:
    environ = {"HANDOFF_NOTIFY_WEBHOOKS": "a=http://h.example", "HANDOFF_NOTIFY_SECRETS": f"a={FIRST}"}
    assert len(read_settings(NotifyOptions(), environ | {"HANDOFF_NOTIFY_INSECURE": "1"}).endpoints) == 1


def test_a_link_needs_to_know_where_the_gateway_is() -> None:
    options = NotifyOptions(channels=("console",), links=("console",))
    with pytest.raises(Refused, match="--public-url"):
        notifying(options, lambda: "", {})
    assert notifying(options, lambda: "https://h.example", {}).settings.channels[0].link


def test_a_line_goes_to_the_terminal_that_was_handed_over() -> None:
    read, write = os.pipe()
    notifying(NotifyOptions(channels=("console",), console_fd=write), lambda: "", {}).say("told")
    os.close(write)
    with os.fdopen(read) as terminal:
        assert terminal.read() == "told\n"


def test_other_processes_are_not_told_of_channels() -> None:
    assert without_ours({"HANDOFF_NOTIFY": "a", "HANDOFF_NOTIFY_SECRETS": "b", "HANDOFF_STATE": "c"}) == {
        "HANDOFF_STATE": "c"
    }


def test_an_address_on_the_command_line_is_refused_before_anything_starts(handoff: Handoff, state: Path) -> None:
    done = handoff("server", "--state", str(state), "--notify", "json://canary.example", env=clean_environment())
    assert done.returncode == 3
    assert "[invalid_request]" in done.stderr and "HANDOFF_NOTIFY" in done.stderr and "canary" not in done.stderr


async def test_a_server_tells_by_what_its_environment_says_and_writes_none_of_it_down(
    temporal: EmbeddedTemporal, state: Path, tmp_path: Path
) -> None:
    """C6, K41, K81: the link, the addresses and the secrets are in no log, file or command line of the server."""
    async with receiving() as receiver:
        env = clean_environment(
            TEMPORAL_ADDRESS=temporal.address,
            HANDOFF_NOTIFY=f"phone=json://{receiver.base_url[7:]}/canary-of-the-channel",
            HANDOFF_NOTIFY_LINK="phone",
            HANDOFF_NOTIFY_WEBHOOKS=f"audit={receiver.base_url}/canary-of-the-endpoint",
            HANDOFF_NOTIFY_SECRETS=f"audit={FIRST}",
        )
        arguments = ("server", "--no-gateway", "--public-url", "https://handoff.example", "--state", str(state))
        log = tmp_path / "log"
        with log.open("wb") as output:
            server = await asyncio.create_subprocess_exec(*command(*arguments), env=env, stdout=output, stderr=output)
        try:
            await until(
                lambda: Part(state, "worker").status()["status"] == "ready", SECONDS, what="the server is ready"
            )
            await _hand_over(temporal)
            await until(lambda: "completed" in str(receiver.requests[-1:]), SECONDS, what="the end was told")
            line = psutil.Process(server.pid).cmdline()
        finally:
            server.send_signal(signal.SIGTERM)
            await server.wait()
    told = "".join(received.body.decode() for received in receiver.requests)
    (token,) = set(re.findall(r"https://handoff.example/j/([A-Za-z0-9_-]+)", told))
    assert all(received.verify(FIRST) for received in receiver.requests if "endpoint" in received.path)
    written = _files(tmp_path) + str(line)
    assert "handoff worker is ready" in written
    for secret in (token, "canary", FIRST):
        assert secret not in written


def _files(folder: Path) -> str:
    """All that is in the files of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_bytes().decode(errors="replace") for path in files)


async def _hand_over(temporal: EmbeddedTemporal) -> None:
    """One handoff, from begin to a verified end."""
    client = await Client.connect(temporal.address, plugins=[HandoffPlugin()])
    desktop = FakeDesktop()
    async with desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        await until(handoff.summary, 20, wanted=lambda now: now.told)
        assert (await handoffs.finished(handoff)).verified
