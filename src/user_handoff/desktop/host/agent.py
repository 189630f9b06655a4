"""An agent that is connected through a door, and what it has yet to be told of a hold."""

from websockets.asyncio.server import ServerConnection

from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.policy import Role
from user_handoff.desktop.host.wire import Command, Json


class AgentClient(CdpClient):
    """One agent.

    Attributes:
        door: The id of the door that it came by.
        refused_in: Sessions whose code was refused: a framework may have kept the refusal for good.
        withheld: Events of targets that appeared in a hold, by session.
        renamed: Targets whose address or title was hidden, by the session that is to be told.
        moved: Sessions of pages whose frames went somewhere in a hold.
        changed: Sessions whose document changed in a hold.
        dialogs: By session, the dialog that opened in a hold.
        networks: By session, the command by which it listens to the network.
        identity: By session and method, what its requests say of the browser.
        scripts: By session and the id that the agent knows, its script for new documents, and its id now.
        scripts_out: True while they are taken out.
        looked: Pages that it has looked at since the last handoff.
    """

    def __init__(self, connection: ServerConnection, name: str, root: str, door: str) -> None:
        super().__init__(connection, name, Role.AGENT, root)
        self.door = door
        self.refused_in: set[str] = set()
        self.withheld: list[tuple[str, Json]] = []
        self.renamed: dict[tuple[str, str], None] = {}
        self.moved: set[str] = set()
        self.changed: set[str] = set()
        self.dialogs: dict[str, bytes] = {}
        self.networks: dict[str, Command] = {}
        self.identity: dict[tuple[str, str], Command] = {}
        self.scripts: dict[tuple[str, str], tuple[Command, str]] = {}
        self.scripts_out = False
        self.looked: set[str] = set()

    def forget(self, session: str) -> None:
        """See `CdpClient`."""
        super().forget(session)
        for known in (self.refused_in, self.moved, self.changed):
            known.discard(session)
        self.dialogs.pop(session, None)
        self.networks.pop(session, None)
        for noted in (self.scripts, self.identity, self.renamed):
            for key in [key for key in noted if key[0] == session]:
                del noted[key]
        self.withheld = [kept for kept in self.withheld if session not in (kept[0], kept[1]["params"].get("sessionId"))]

    @property
    def runs_in_new_documents(self) -> set[str]:
        """Sessions that have a script of the agent's in every new document."""
        return set() if self.scripts_out else {session for session, _ in self.scripts}
