"""Does a text ask a person to write a secret down? Such a step belongs in the browser, under a handoff.

A text question is answered in text, and text is kept: in history, in the agent's context, on its way. The matcher looks
at one sentence after another for somebody being asked to tell what is secret; that a page wants a password, or that a
person should type one into the browser, is no such question. It is a net for mistakes, not a wall against bad will.

What was refused once must stay refused, or workflows that were refused do not replay: add words, take none away.
"""

import re
import unicodedata
from typing import Final, Literal

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.session import PostMessage


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _words(text: str) -> str:
    return _any(*text.split())


_CODE_OF = _any(
    _words("verification auth security confirmation access sms 2fa mfa backup recovery unlock otp totp pin cvc cvv"),
    _words("door alarm one[- ]?time single[- ]use log[- ]?in sign[- ]?in authentication authenticator"),
    r"(?:two|multi)[- ]factor",
    r"(?:four|six|eight|\d)[- ]digit",
)
_SENT = _any("text message", _words("sms texted e-?mail e-?mailed phone authenticator receive received got sent"))
_SECRET_NOUNS = _any(
    r"pass[- ]?(?:word|code|phrase)s?",
    _words("passwd pwd pin otps? totp credentials mnemonic cv[vc]2? ssn"),
    rf"{_CODE_OF}(?: \w+)? (?:codes?|pins?|numbers?|passwords?)",
    rf"codes?\b(?: [\w'-]+){{0,5}} {_SENT}",
    r"log[- ]?in (?:details|data|info(?:rmation)?)",
    r"(?:private|secret|api|access|ssh|signing|encryption)[- ]keys?",
    r"(?:access|api|auth|bearer|session|refresh|security) tokens?",
    r"(?:session|auth|login) cookies?",
    r"(?:seed|recovery|secret|mnemonic|backup) (?:phrase|words)",
    r"card (?:numbers?|details|security code)",
    "social security number",
    "mother's maiden name",
    r"answer to (?:your|the) (?:security|secret) question",
    # German, French, Spanish, Portuguese.
    _words(r"\w*passwort \w*kennwort passwörter geheimzahl zugangsdaten anmeldedaten zugangscode"),
    _any(r"(?:sms|push|chip|photo|m)-?tan", r"(?:einmal|bestätigungs|sicherheits|verifizierungs|freischalt|sms-)code"),
    r"mots? de passe",
    r"code (?:de vérification|de sécurité|de confirmation|à usage unique|secret|pin)",
    _any(r"contraseñas?", r"código de (?:verificación|seguridad|confirmación)", "senha"),
)
_ABOUT_IT = _any(  # what makes it a thing of the page, and no secret any more
    _words("policy policies fields? managers? requirements? rules? strength hints? box(?:es)? buttons? links? forms?"),
    _words("prompts? resets? length formats? inputs? pages? screens? dialogs? expiry expiration options? methods?"),
    _words("labels? settings? requests? step change names? scopes? permissions? provider type timeout feature section"),
    _words("banner reviews? protected protection"),
    "that failed",
)
_SECRET = rf"\b{_SECRET_NOUNS}\b(?!(?:'s)?[ -]{_ABOUT_IT}\b)"

_OTHER = _any(  # a word after which the secret is no object of what was asked
    _words("because since when where while if whether that which who whose page site website form asks asking asked"),
    _words("you requires needs wants says said about without instead never not no how why of field screen reset"),
    _words("forgot forgotten change changed with behind regarding whenever until once than save saved remember"),
)
_FEW = rf"(?: (?!{_OTHER}\b)[\w'@.-]+){{0,5}}?"
_WHOSE = _any("your", "the", "my", "his", "her", "their", "our", "its", "an?", "this", "that", "any", "all")
_OF_WHOM = rf"(?: {_WHOSE})(?: (?!{_OTHER}\b|for\b|on\b|in\b|to\b|at\b|from\b)[\w'-]+){{0,3}}?"

_ADVERB = r"(?: (?:please|kindly|just|now|also|simply|first|quickly|\w+ly))*"
_LEAD = _any(  # somebody is asked to do what follows
    r"^",
    r"[,:;()–—] ?",
    r"\b(?:please|kindly|just|now|then|and|or|simply|first|next|so|ok|okay|hi|hello|hey|pls)",
    rf"\b(?:can|could|would|will|won't|couldn't|can't) you{_ADVERB}",
    rf"\byou (?:must|should|have to|need to|can|may|could){_ADVERB}",
    r"\b(?:need|want|like|ask|require) (?:you|someone|somebody|a person) to",
    r"\b(?:someone|somebody|a person|the user) (?:must|should|has to|needs to|can|could)",
)
_TELL = _any(
    _words("tell send give share provide supply dictate reveal disclose forward spell text message email e-mail"),
    _words("paste post deliver leak expose show whisper transmit relay"),
    r"read (?:me|out|us|aloud)",
    r"let (?:me|us) (?:know|have|see)",
    r"(?:reply|respond|answer|come back|get back)(?: to (?:me|us|this))? with",
    r"(?:hand|drop) (?:me|us|over)",
)
_ENTER = _words("enter type input write submit confirm insert verify state put fill key specify set")
_ASK_TELL = rf"{_LEAD} ?{_TELL}(?! (?:you|him|her|them)\b){_FEW} {_SECRET}"
_ASK_ENTER = rf"{_LEAD} ?{_ENTER}{_FEW} {_SECRET}"
_ASK_WHAT = _any(
    rf"\bwhat(?:'s| is| are| was|s){_OF_WHOM} {_SECRET}",
    rf"\bwhat{_OF_WHOM} {_SECRET}(?: [\w'-]+){{0,4}} (?:is|was|are)\b",
    rf"\b(?:what|which)(?: [\w'-]+){{0,2}}? {_SECRET} "
    r"(?:should|shall|do|did|can|must|may|would|will|have|has|was|is|are|were|to)\b",
    rf"\b(?:what|which) {_SECRET}[?:]?$",
    rf"\b(?:can|could|may|might) (?:i|we){_ADVERB} (?:have|get|see|know|ask for){_FEW} {_SECRET}",
    rf"\b(?:i|we)(?:'ll| will|'d| would)? (?:need|require|want|like)(?: to (?:have|know|see))?{_OF_WHOM} {_SECRET}",
    rf"\b(?:wie (?:lautet|ist|heißt)|was ist|quel(?:le)?s? (?:est|sont)|cu[aá]l(?:es)? (?:es|son)|qual é)"
    rf"(?: [\w'-]+){{0,4}}? {_SECRET}",
)
_ASK_ABROAD = (
    r"\b(?:nennen?|senden?|schick(?:en?)?|verraten?|sag(?:en?)?|teilen?|gib (?:mir|uns)|geben sie (?:mir|uns)|"
    r"antworten? (?:sie )?mit|donne[rz]?|envoie[rz]?|envoyez|dis|dites|communique[rz]?|indique[rz]?|fournissez|"
    r"partage[rz]?|dime|d[ií]game|env[ií]a(?:me)?|env[ií]eme|m[aá]ndame|comparte|dame|deme|diga|envie)"
    rf"(?:-moi|-nous)?(?: [\w'-]+){{0,5}}? {_SECRET}"
)
_ALONE = rf"^(?:and )?(?:{_WHOSE} )?(?:(?:current|new|old|login|account|user|username and|email and) )*{_SECRET}"
_ASK_ALONE = rf"{_ALONE}(?: for [\w'. -]+)?,?(?: please| pls)? ?[?:]?$"

_NOT = re.compile(
    r"(?:\b(?:do not|don't|never|no need to|without|not to|must not|mustn't|should not|shouldn't|won't|will not|"
    r"cannot|can't|need not|needn't|not have to|instead of|rather than|not)(?: [\w']+){0,3}) ?$"
)
_NOT_ABROAD = re.compile(r"\b(?:nicht|nie|niemals|kein\w*|ne|jamais|pas|no|nunca|não)\b")
_POLITE_NOT = re.compile(r"\bwhy (?:don't|not) (?:you )?|\b(?:can't|couldn't|won't) you ")
_SUBORDINATE = re.compile(r"\b(?:when|if|after|once|before|as soon as|while|until|whenever|did|do|does|how|where|why)$")
_WHERE = re.compile(
    r"\b(?:in|into|on|onto|at|inside|through|to)(?: [\w'.-]+){0,4}? (?:browser|window|page|site|website|form|field|"
    r"fields|portal|dialog|popup|pop-up|tab|screen|box|view|prompt|desktop|log[- ]?in)\b"
    r"|\bthere\b|\byourself\b|\bim (?:browser|fenster|formular|feld)\b|\bauf der seite\b|\bin das feld\b|\bdort\b"
    r"|\bdans (?:le|la) (?:navigateur|fenêtre|page|champ)\b|\ben (?:el|la) (?:navegador|ventana|página)\b"
)
_TO_ME = re.compile(
    r"\b(?:me|us|here|reply|chat|comments?|notes?|answer|message|below|mir|uns|hier|moi|nous|ici|aquí)\b"
)
_SPLIT = re.compile(r"(?<=[.!?])\s+|[\n;]+")
_TRANSLATED: Final = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": " ", "”": " ", '"': " ", "`": " ", "*": " ", "_": " "}
)

_TELLS: Final = re.compile(_ASK_TELL)
_ENTERS: Final = re.compile(_ASK_ENTER)
_WHATS: Final = re.compile(_ASK_WHAT)
_ABROAD: Final = re.compile(_ASK_ABROAD)
_ALONES: Final = re.compile(_ASK_ALONE)


def asks_for_secret(text: str, kind: Literal["question", "todo"] = "question") -> bool:
    """Whether a text asks a person to write a password, code or other secret down.

    Args:
        text: What a person is to be asked.
        kind: A question is answered in text, so that "enter your password" asks for the password; a todo is done in
            the browser, so that it does not, unless it says otherwise.
    """
    return any(_asks(sentence, kind) for sentence in map(_plain, _SPLIT.split(text)) if sentence)


def secret_refusal(message: PostMessage, session_id: str) -> HandoffError | None:
    """Why a message may not be posted; None where it asks for no secret."""
    if not asks_for_secret(message.text, message.kind):
        return None
    return make_error(
        ErrorCode.SECRET_QUESTION,
        f"This {message.kind} asks a person to write a secret down, which would be kept.",
        holds="Nobody was asked.",
        do_next="Post a todo that says what is to be done in the browser, and hand the browser over under it.",
        session_id=session_id,
        message_id=message.message_id,
    )


def _asks(sentence: str, kind: str) -> bool:
    sentence = _POLITE_NOT.sub("please ", sentence)
    located, to_me = _WHERE.search(sentence) is not None, _TO_ME.search(sentence) is not None
    if any(not _NOT.search(sentence[: found.start()]) for found in _WHATS.finditer(sentence)):
        return True
    if _ALONES.search(sentence) and (kind == "question" or sentence[-1] in "?:"):
        return True
    if (to_me or not located) and _ABROAD.search(sentence) and not _NOT_ABROAD.search(sentence):
        return True
    if (to_me or not located) and any(_is_asked(sentence, found) for found in _TELLS.finditer(sentence)):
        return True
    expects_text = to_me or (kind == "question" and not located)
    return expects_text and any(_is_asked(sentence, found) for found in _ENTERS.finditer(sentence))


def _is_asked(sentence: str, found: "re.Match[str]") -> bool:
    before = sentence[: found.start()].rstrip()
    lead = f"{before} {found.group().split(' ')[0]}" if found.group()[:1].isalpha() else before
    return not _NOT.search(before) and not _NOT.search(lead) and not _SUBORDINATE.search(before)


def _plain(sentence: str) -> str:
    """Lower case, one kind of apostrophe, no marks and invisible characters."""
    text = unicodedata.normalize("NFKC", sentence).translate(_TRANSLATED)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return re.sub(r"\s+", " ", text).strip().lower().rstrip(".! ")
