"""Wie eine Übergabe endet, auf Deutsch: a part of `texts_de`."""

from typing import Final

from user_handoff.contract.handoff import Result, RevokeReason

RESULTS: Final = {
    Result.VERIFIED: "Bestätigt",
    Result.NOT_VERIFIED: "Nicht bestätigt",
    Result.DECLINED: "Abgelehnt",
    Result.FAILED: "Ging nicht",
    Result.EXPIRED: "Abgelaufen",
    Result.CLOSED: "Browser geschlossen",
    Result.REVOKED: "Von selbst beendet",
    Result.RUNNER_LOST: "Desktop verloren",
    Result.REFUSED: "Nicht begonnen",
}
ENDS: Final = {
    Result.VERIFIED: (
        "Es hat geklappt",
        "Der Agent hat geprüft und gesehen, worauf er gewartet hat. Er macht mit seiner Aufgabe weiter.",
    ),
    Result.NOT_VERIFIED: (
        "Nicht bestätigt",
        "Der Agent hat hingesehen und nicht gefunden, woran man erkennt, dass der Schritt gelungen ist. Er behandelt "
        "ihn nicht als erledigt.",
    ),
    Result.DECLINED: ("Abgelehnt", "Der Agent weiß es und lässt diesen Schritt aus."),
    Result.FAILED: ("Nicht erledigt", "Der Agent weiß, dass der Schritt nicht ging."),
    Result.EXPIRED: (
        "Die Zeit ist um",
        "Niemand hat rechtzeitig geantwortet. Der Browser bleibt angehalten, wo er ist, und der Agent sieht den "
        "Schritt als nicht erledigt an.",
    ),
    Result.CLOSED: (
        "Der Browser wurde geschlossen",
        "Damit ist diese Anfrage zu Ende. Es ist nichts mehr zu tun.",
    ),
    Result.REVOKED: ("Diese Anfrage ist zu Ende", "Der Browser wird nicht mehr für Sie gehalten."),
    Result.RUNNER_LOST: (
        "Der Desktop ist weg",
        "Der Rechner mit dem Browser antwortet nicht mehr, darum ist diese Anfrage zu Ende.",
    ),
    Result.REFUSED: (
        "Diese Anfrage hat nicht begonnen",
        "Der Browser konnte Ihnen nicht übergeben werden. Nichts wurde gehalten.",
    ),
}

REVOKED: Final = {
    RevokeReason.IDLE: "Der Browser wurde geschlossen, weil ihn zu lange nichts benutzt hat.",
    RevokeReason.LIFETIME: "Der Browser hat das Ende seiner erlaubten Zeit erreicht und wurde geschlossen.",
    RevokeReason.SHUTDOWN: "Der Rechner mit dem Browser wurde heruntergefahren.",
    RevokeReason.RUNNER_REPLACED: "Der Desktop mit dem Browser wurde durch einen anderen ersetzt.",
    RevokeReason.RUNNER_LOST: "Der Rechner mit dem Browser antwortet nicht mehr.",
    RevokeReason.BROWSER_CRASHED: "Der Browser ist abgestürzt.",
    RevokeReason.WINDOW_CLOSED: "Das Fenster des Browsers wurde geschlossen.",
}
