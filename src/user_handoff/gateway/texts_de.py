"""Die Sätze der Seiten für Menschen, auf Deutsch. The names are those of `texts`, which a test compares."""

from typing import Final

from user_handoff.contract.boundary import Category
from user_handoff.contract.handoff import Answer, HandoffState
from user_handoff.gateway.texts_de_ends import ENDS as ENDS
from user_handoff.gateway.texts_de_ends import RESULTS as RESULTS
from user_handoff.gateway.texts_de_ends import REVOKED as REVOKED
from user_handoff.gateway.texts_de_takeover import BROWSER_ID as BROWSER_ID
from user_handoff.gateway.texts_de_takeover import GIVE_BACK as GIVE_BACK
from user_handoff.gateway.texts_de_takeover import NO_BROWSERS as NO_BROWSERS
from user_handoff.gateway.texts_de_takeover import NO_OPERATOR as NO_OPERATOR
from user_handoff.gateway.texts_de_takeover import NOT_TAKEN as NOT_TAKEN
from user_handoff.gateway.texts_de_takeover import NOT_TAKEN_BECAUSE as NOT_TAKEN_BECAUSE
from user_handoff.gateway.texts_de_takeover import TAKE_IT as TAKE_IT
from user_handoff.gateway.texts_de_takeover import TAKE_OVER as TAKE_OVER
from user_handoff.gateway.texts_de_takeover import TAKE_OVER_HINT as TAKE_OVER_HINT
from user_handoff.gateway.texts_de_takeover import TAKEN_OVER as TAKEN_OVER
from user_handoff.gateway.texts_de_takeover import WHY_TAKEN as WHY_TAKEN
from user_handoff.gateway.texts_de_takeover import WITHOUT_A_WORD as WITHOUT_A_WORD
from user_handoff.gateway.texts_de_takeover import YOU_HAVE_IT as YOU_HAVE_IT
from user_handoff.gateway.texts_de_view import VIEW_WORDS as VIEW_WORDS

LANGUAGE: Final = "de"

ASKS: Final = "bittet um Ihre Hilfe"
WHAT_TO_DO: Final = "Was zu tun ist"
WHERE_LABEL: Final = "Wo"
WHY_LABEL: Final = "Warum Sie"
THEN_LABEL: Final = "Danach"
UNTIL: Final = "bis"
LEFT: Final = "übrig"
SHORT: Final = "Weniger als eine Minute übrig"
STOPPED_AT: Final = "Angehalten bei"
BY_THE_RULE: Final = "durch die Regel"
NOW: Final = "gerade"
NOTE: Final = "Notiz"
SAW: Final = "Was er gesehen hat"
ASKED: Final = "Worum es ging"
AT: Final = "auf"
VIEW: Final = "Das Browserfenster des Agenten"
LOST: Final = "Keine Verbindung. Neuer Versuch läuft; die Zeit auch."
OTHERS: Final = (
    "Diese Anfrage wurde auch über einen anderen Link geöffnet, von Ihnen oder von jemand anderem. Die erste Antwort "
    "zählt."
)
CODE_RAN: Final = (
    "Vor Ihnen lief Code eines Programms in Seiten dieses Browsers und kann dort noch wirken. Um sicher zu sein, laden "
    "Sie eine Seite neu, bevor Sie darin tippen."
)

ENTRY: Final = (
    "Anfrage öffnen",
    "Ein Agent bittet einen Menschen um einen Schritt. Dieser Link lässt einen Browser ein, einmal.",
)
ENTER: Final = "Öffnen"
OPENING: Final = (
    "Einen Moment",
    "Dieser Link wird gerade in einem anderen Tab geöffnet. Wurde der geschlossen, öffnet er sich gleich hier.",
)
ELSEWHERE: Final = (
    "In einem anderen Tab offen",
    "Sie haben diese Anfrage anderswo offen. Sie kann nur in einem Tab zugleich sein.",
)
TAKE: Final = "Hier verwenden"
TAKEN: Final = (
    "Dieser Link wurde benutzt",
    "Er hat einen anderen Browser eingelassen und lässt keinen zweiten ein. Waren das nicht Sie, sagen Sie es der "
    "Person, die ihn geschickt hat, und bitten Sie um einen neuen.",
)
LINK_EXPIRED: Final = (
    "Dieser Link ist zu alt",
    "Niemand hat ihn rechtzeitig geöffnet. Bitten Sie die Person, die ihn geschickt hat, um einen neuen.",
)
OVER: Final = (
    "Diese Anfrage ist vorbei",
    "Sie endete, bevor dieser Link geöffnet wurde. Es ist nichts mehr zu tun.",
)
SIGN_IN: Final = ("Bitte zuerst anmelden", "Diese Seite fragt, wer Sie sind, bevor sie eine Anfrage zeigt.")
SIGN_IN_BUTTON: Final = "Anmelden"
NOT_FOR_YOU: Final = (
    "Diese Anfrage ist für jemand anderen",
    "Sie nennt die eine Person, die sie öffnen darf, und als diese sind Sie nicht angemeldet. Der Link wurde nicht "
    "verbraucht.",
)

TITLES: Final = {
    Category.AUTHENTICATION: "Anmelden",
    Category.FINANCIAL: "Über eine Zahlung oder einen Vertrag entscheiden",
    Category.DESTRUCTIVE: "Über etwas entscheiden, das sich nicht rückgängig machen lässt",
    Category.ACCOUNT: "Über ein Konto oder seine Rechte entscheiden",
    None: "Ein Schritt, den nur Sie tun können",
}

WHY: Final = {
    Category.AUTHENTICATION: "Anmelden ist Ihre Sache allein: Kein Agent soll Ihr Passwort oder Ihre Codes haben.",
    Category.FINANCIAL: "Das würde Geld ausgeben oder Sie binden. Das darf kein Agent entscheiden.",
    Category.DESTRUCTIVE: "Das würde etwas endgültig löschen oder veröffentlichen. Das darf kein Agent entscheiden.",
    Category.ACCOUNT: "Das würde ein Konto ändern oder wer was darf. Das darf kein Agent entscheiden.",
    None: "Der Agent soll hier einen Menschen fragen.",
}

WHERE: Final = "Im Browserfenster des Agenten, wie er es verlassen hat. Bis Sie antworten, kann er dort nichts tun."
NEXT: Final = "Der Agent nimmt den Browser zurück, sieht neu hin und prüft selbst, ob der Schritt gelungen ist."
NOTE_LABEL: Final = "Eine Notiz für den Agenten"
NOTE_HINT: Final = (
    "Nie ein Passwort oder einen Code: Die gehören nur in das Browserfenster. Die Notiz wird gespeichert."
)

SHOW: Final = "Fenster zeigen"
SHOWN: Final = {
    "raised": "Das Fenster ist jetzt vorn.",
    "in_front": "Das Fenster ist schon vorn.",
    "typing": "In einem anderen Fenster tippt gerade jemand. Nichts wurde bewegt: Versuchen Sie es gleich noch einmal.",
    "unknown": "Dort lässt sich nicht erkennen, ob jemand tippt; nichts wurde bewegt. Suchen Sie das Fenster selbst.",
    "failed": "Das Fenster ließ sich nicht zeigen. Suchen Sie es selbst.",
}

BUTTONS: Final = {
    Answer.DONE: "Erledigt",
    Answer.COULD_NOT: "Ging nicht",
    Answer.DECLINED: "Ablehnen",
}
BUTTON_HINTS: Final = {
    Answer.DONE: "Der Schritt ist getan",
    Answer.COULD_NOT: "Es hat nicht geklappt",
    Answer.DECLINED: "Das will ich nicht",
}

PREPARING: Final = ("Der Browser wird vorbereitet", "Der Agent wird angehalten. Gleich können Sie anfangen.")
WAITING: Final = "Wartet auf Sie"
TAKING_BACK: Final = ("Danke", "Der Agent nimmt den Browser zurück.")
CHECKING: Final = ("Danke", "Der Agent hat den Browser zurück, sieht neu hin und prüft.")

YOU_SAID: Final = {
    Answer.DONE: "Sie haben gesagt, dass es erledigt ist",
    Answer.COULD_NOT: "Sie haben gesagt, dass es nicht ging",
    Answer.DECLINED: "Sie haben abgelehnt",
}
_SAID: Final = {
    Answer.DONE: "hat gesagt, dass es erledigt ist",
    Answer.COULD_NOT: "hat gesagt, dass es nicht ging",
    Answer.DECLINED: "hat abgelehnt",
}
STEP_BACK: Final = ("Der Agent nimmt den Browser zurück", "Der Agent hat den Browser zurückgenommen")
STEP_CHECK: Final = ("Er sieht neu hin und prüft", "Er hat neu hingesehen und geprüft")

EXPIRED_AND_OVER: Final = "Niemand hat rechtzeitig geantwortet, und der Agent sieht den Schritt als nicht erledigt an."
NOTHING_TO_CHECK: Final = (
    "Es war nichts festgelegt, woran man den Erfolg erkennt; darum sieht ihn der Agent nicht als erledigt an."
)


EARLIER: Final = "Eine frühere Antwort gilt. Diese wurde nicht festgehalten."
LATE: Final = "Ihre Antwort kam zu spät und wurde nicht festgehalten."
NOTE_TOO_LONG: Final = (
    "Die Notiz ist länger als 1.000 Zeichen. Noch wurde nichts gesendet: Kürzen Sie sie und antworten Sie noch einmal."
)
NO_ANSWER: Final = "Das war keine der drei Antworten. Noch wurde nichts gesendet: Benutzen Sie eine der Schaltflächen."

STATES: Final = {
    HandoffState.REQUESTED: "Wird vorbereitet",
    HandoffState.HELD: "Wartet auf einen Menschen",
    HandoffState.FINISHING: "Beantwortet",
    HandoffState.RECOVERING: "Beantwortet; der Agent prüft",
    HandoffState.EXPIRED: "Zeit abgelaufen; der Browser bleibt angehalten",
}
INBOX: Final = "Anfragen"
WAITS: Final = "Warten"
RECENT: Final = "Kürzlich beendet"
NOTHING_WAITS: Final = "Nichts wartet auf einen Menschen."
NOTHING_ENDED: Final = "Am letzten Tag ist nichts zu Ende gegangen."
FOR_WHOM: Final = "Für"
ANYBODY: Final = "wer einen Link hat"
DESKTOP: Final = "Desktop"
ASKED_BY: Final = "Gefragt von"
NEW_LINK: Final = "Neuer Link"
THE_LINK: Final = (
    "Ein neuer Link",
    "Er wird nur dieses eine Mal gezeigt und öffnet einen Browser, einmal, fünf Minuten lang. Geben Sie ihn nur der "
    "Person, für die er ist.",
)
COPY: Final = "Kopieren"
COPIED: Final = "Kopiert"
CLOSE: Final = "Schließen"
NO_LINK: Final = (
    "Kein Link wurde gemacht",
    "Diese Anfrage ist zu Ende, nimmt keine Links mehr an oder ist nicht Ihre.",
)
INBOX_LOST: Final = "Keine Verbindung. Was Sie sehen, kann alt sein."

SIGN_IN_INBOX: Final = ("Anfragen", "Melden Sie sich an, um zu sehen, was auf einen Menschen wartet.")
KEY: Final = "Ihr Schlüssel"
KEY_HINT: Final = (
    "Er beginnt mit hk_ und wird einmal gebraucht: Ihr Browser behält statt seiner eine Anmeldung für acht Stunden."
)
SIGN_IN_BY: Final = "Über Ihre Organisation anmelden"
SIGN_OUT: Final = "Abmelden"
WRONG_KEY: Final = "Dieser Schlüssel lässt niemanden ein."
NOT_SIGNED_IN: Final = (
    "Sie wurden nicht angemeldet",
    "Die Anmeldung wurde nicht beendet, oder diese Seite kann ihr nicht glauben. Versuchen Sie es noch einmal.",
)
NO_PROVIDER: Final = (
    "Anmelden geht gerade nicht",
    "Der Dienst, der Menschen anmeldet, antwortet nicht. Versuchen Sie es noch einmal.",
)

UNKNOWN_LINK: Final = (
    "Dieser Link öffnet nichts",
    "Er ist vielleicht unvollständig, oder für etwas, das vorbei ist. Bitten Sie die Person, die ihn geschickt hat, um "
    "einen neuen.",
)
UNREACHABLE: Final = (
    "Einen Moment",
    "Der Dienst hinter dieser Seite antwortet gerade nicht. Der Browser ist, wie er war. Laden Sie diese Seite in "
    "einer Minute neu.",
)
ASK: Final = "Dem Agenten etwas Eigenes schicken"
ASK_LABEL: Final = "Ihre Anfrage"
ASK_HINT: Final = (
    "Der Agent kann es als Worte eines Menschen lesen: Sie befehlen nichts und erlauben nichts. Nie ein Passwort oder "
    "einen Code: Es wird gespeichert."
)
ASK_SEND: Final = "Senden"
ASK_SENDING: Final = "Wird gesendet…"
ASK_SENT: Final = "Gesendet. Der Agent kann es jetzt lesen."
ASK_CHANGED: Final = (
    "Sie haben es geändert, während es gesendet wurde; was vorher dort stand, wurde nicht gesendet. Senden Sie es noch "
    "einmal."
)
ASK_FULL: Final = "Der Agent hat schon zu viel zu lesen. Nichts wurde gesendet: Versuchen Sie es später noch einmal."
ASK_UNFIT: Final = "Das ist leer oder länger als 4.000 Zeichen. Nichts wurde gesendet."
ASK_OVER: Final = "Die Sitzung des Agenten ist vorbei. Nichts wurde gesendet."

LET_IN: Final = "Einen Agenten einlassen"
LET_IN_HINT: Final = (
    "Sie bekommen eine Adresse für einen Agenten von Ihnen, gültig 15 Minuten und nur für diese Sitzung. "
    "Wer sie hat, kann sie benutzen."
)
GRANTS: Final = {
    "look": ("Nur ansehen", "Er sieht den Browser, kann Sie fragen und fasst nichts an"),
    "all": ("Alles", "Er bedient auch den Browser"),
}
GRANTED: Final = (
    "Diese Adresse lässt einen Agenten ein",
    "Geben Sie sie ihm jetzt: Sie wird nur dieses eine Mal gezeigt. Sie braucht kein Passwort daneben; geben Sie sie "
    "sonst niemandem.",
)
GRANT_LATER: Final = (
    "Jetzt nicht",
    "Ein Agent kann eingelassen werden, sobald diese Anfrage beantwortet und zu Ende ist. Nichts wurde erlaubt.",
)
NO_GRANT: Final = (
    "Nicht erlaubt",
    "Das war keine der Möglichkeiten. Gehen Sie zurück und benutzen Sie eine der Schaltflächen.",
)
SESSION_OVER: Final = ("Diese Sitzung ist vorbei", "Kein Agent kann mehr eingelassen werden. Nichts wurde erlaubt.")
TOO_MANY_GRANTS: Final = (
    "Nicht erlaubt",
    "In diese Sitzung wurden so viele Agenten eingelassen, wie es gibt. Warten Sie, bis die Zeit von einigen um ist.",
)
MAYBE_SENT: Final = (
    "Nicht sicher, ob es ankam",
    "Der Dienst hinter dieser Seite hat Ihre Antwort nicht bestätigt. Laden Sie diese Seite neu, um sie noch einmal zu "
    "senden: Sie zählt nur einmal.",
)
FOREIGN: Final = (
    "Nicht angenommen",
    "Diese Antwort kam von einer anderen Website. Öffnen Sie den Link selbst und antworten Sie dort.",
)
TOO_LARGE: Final = (
    "Zu lang",
    "Das ist mehr, als diese Seite annimmt. Gehen Sie zurück und kürzen Sie die Notiz.",
)
BROKEN: Final = (
    "Etwas ist schiefgegangen",
    "Das ist unser Fehler. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.",
)
NOT_HERE: Final = ("So nicht", "Diese Adresse nimmt diese Art von Anfrage nicht an.")


def minutes_left(seconds: float) -> str:
    """Die verbleibende Zeit in Worten, abgerundet, für eine Seite, die nicht zählen kann."""
    if seconds < 60:
        return "weniger als eine Minute übrig"
    minutes = int(seconds // 60)
    return f"{minutes} Minute{'n' if minutes > 1 else ''} übrig"


def said(who: str, answer: Answer) -> str:
    """Was jemand anderes geantwortet hat."""
    return f"{who} {_SAID[answer]}"


def title_at(title: str, host: str) -> str:
    """Ein Schritt, und die Website, für die er ist."""
    return f"{title} auf {host}"
