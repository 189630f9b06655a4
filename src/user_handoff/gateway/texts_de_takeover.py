"""Die Sätze zum Übernehmen von Browsern, auf Deutsch: a part of `texts_de`."""

from typing import Final

from user_handoff.contract.errors import ErrorCode

TAKE_OVER: Final = "Einen Browser übernehmen"
TAKE_OVER_HINT: Final = (
    "Sie unterbrechen den Agenten. Er wartet, bis Sie den Browser zurückgeben und er nachgesehen hat. "
    "Höchstens zehn Minuten."
)
BROWSER_ID: Final = "Die Kennung des Browsers"
NO_BROWSERS: Final = "Auf keinem Desktop mit Live-Ansicht ist ein Browser offen."
WHY_TAKEN: Final = "Warum, für den Agenten"
TAKE_IT: Final = "Übernehmen"
GIVE_BACK: Final = "Zurückgeben"
WITHOUT_A_WORD: Final = "Abbrechen"
YOU_HAVE_IT: Final = (
    "Sie haben den Browser",
    "Steuern Sie im Bild darunter. Schreiben Sie nie ein Passwort in die Notiz.",
)
TAKEN_OVER: Final = ("Der Agent hat den Browser wieder", "Er muss nachsehen, bevor er handelt.")
NOT_TAKEN: Final = (
    "Sie haben den Browser nicht",
    "Er ließ sich nicht übernehmen. Vielleicht hat ihn jemand anderes, oder er ist weg.",
)
NOT_TAKEN_BECAUSE: Final = {
    ErrorCode.HANDOFF_ACTIVE: "Sein Agent hat um einen Menschen gebeten, und diese Anfrage hält ihn. Beantworten oder "
    "schließen Sie zuerst die.",
    ErrorCode.TAKEOVER_ACTIVE: "Er wurde schon übernommen, von Ihnen oder von jemand anderem, und muss zuerst "
    "zurückgegeben werden.",
    ErrorCode.LEASE_TAKEN: "Jemand steuert den Desktop, auf dem er ist. Versuchen Sie es danach noch einmal.",
    ErrorCode.DRAIN_TIMEOUT: "Sein Agent tat etwas, das in fünf Sekunden nicht endete, und macht weiter. Versuchen Sie "
    "es noch einmal.",
    ErrorCode.UNKNOWN_BROWSER: "Kein erreichbarer Desktop hat einen Browser mit dieser Kennung.",
    ErrorCode.BROWSER_GONE: "Dieser Browser ist beendet.",
    ErrorCode.RUNNER_UNAVAILABLE: "Sein Desktop antwortet gerade nicht. Versuchen Sie es gleich noch einmal.",
    ErrorCode.INVALID_REQUEST: "Das ist keine Kennung eines Browsers.",
}
NO_OPERATOR: Final = ("Nicht für Sie", "Nur wer den Dienst betreibt, darf einen Browser übernehmen.")
