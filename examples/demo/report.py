"""What a run of the demo came to, and whether that is as it should be."""

import dataclasses
from dataclasses import dataclass, field

from examples.portal_pages import INVOICES

EFFECTS_TRIED = 3
SECONDS_ALLOWED = 60.0


@dataclass
class Report:
    """The facts of one run: the last line of ``--json``.

    Attributes:
        outcome: How the handoff ended; ``none`` where there was none.
        verified: True where the portal's dashboard was observed after the handoff.
        handoff_id: Which handoff.
        effects_refused_while_held: How many of the agent's three attempts were refused.
        exported_rows: The invoices in the exported file.
        secrets_found: How many times a secret was found anywhere.
        seconds: How long it all took, without installing.
        refusals: The code of each refusal.
        same_browser: True where browser process and page were the same before and after.
        secrets_where: What was found, and where: never the secret.
        left_running: Commands of processes that did not end by themselves.
        pictures: Paths of the pictures.
        problems: Sentences; empty when all is as it should be.
    """

    outcome: str = "none"
    verified: bool = False
    handoff_id: str | None = None
    effects_refused_while_held: int = 0
    exported_rows: int = 0
    secrets_found: int = 0
    seconds: float = 0.0
    refusals: list[str] = field(default_factory=list)
    same_browser: bool = False
    secrets_where: list[str] = field(default_factory=list)
    left_running: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, object]:
        """The JSON object."""
        return dataclasses.asdict(self)

    def judge(self, *, timed: bool = True) -> None:
        """Add a sentence to `problems` for everything that is not as it should be.

        Args:
            timed: False where a real person took the time they needed.
        """
        checks = {
            f"The handoff ended {self.outcome}, not verified.": self.verified and self.outcome == "verified",
            "The browser or its page is not the same as before.": self.same_browser,
            f"{self.effects_refused_while_held} of {EFFECTS_TRIED} effects were refused while held.": (
                self.effects_refused_while_held == EFFECTS_TRIED
            ),
            f"{self.exported_rows} invoices were exported, not {len(INVOICES)}.": self.exported_rows == len(INVOICES),
            f"Secrets were found: {', '.join(self.secrets_where)}.": self.secrets_found == 0,
            f"Left running: {'; '.join(self.left_running)}.": not self.left_running,
            f"It took {self.seconds:.0f} s, and {SECONDS_ALLOWED:.0f} are allowed: a busy machine is slower. "
            "Try again when it is idle.": not timed or self.seconds < SECONDS_ALLOWED,
        }
        self.problems += [sentence for sentence, good in checks.items() if not good]
