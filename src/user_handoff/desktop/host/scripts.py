"""An agent's scripts for new documents: taken out in a hold, so that the documents a person opens have none."""

from collections.abc import Awaitable

from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.policy import is_empty_script
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.wire import Command, Incoming

ADD = "Page.addScriptToEvaluateOnNewDocument"
REMOVE = "Page.removeScriptToEvaluateOnNewDocument"


def note_added(client: AgentClient, session: str, command: Command, reply: Incoming | None) -> None:
    """Note a script that was put in; one that does nothing stays in during a hold."""
    if reply is None or reply.is_error or is_empty_script(command.method, command.params):
        return
    identifier = reply.parsed()["result"]["identifier"]
    client.scripts[session, identifier] = (command, identifier)


def removing(client: AgentClient, session: str, command: Command) -> Command:
    """The command that takes out the script which the agent knows by its first id."""
    known = client.scripts.pop((session, str(command.params.get("identifier"))), None)
    if known is None:
        return command
    return Command(command.id, command.method, {"identifier": known[1]}, command.session)


def take_out(router: Router, client: AgentClient) -> list[Awaitable[object]]:
    """Take all of an agent's scripts out; they stay noted."""
    client.scripts_out = True
    return [router.call(REMOVE, {"identifier": now}, session) for (session, _), (_, now) in client.scripts.items()]


async def put_back(router: Router, client: AgentClient) -> None:
    """Put them in again, for the documents that come."""
    client.scripts_out = False
    for key, (command, _) in list(client.scripts.items()):
        params = {name: value for name, value in command.params.items() if name != "runImmediately"}
        found = await router.call(ADD, params, key[0])
        if key in client.scripts:
            client.scripts[key] = (command, found["identifier"])
