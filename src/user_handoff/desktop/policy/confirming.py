"""What a person has to confirm before an agent submits it."""

import re
from collections.abc import Iterable

from user_handoff.contract.boundary.phrases import whole
from user_handoff.contract.boundary.readings import readings
from user_handoff.contract.browser import Fill, PageEffect, Press, Select
from user_handoff.desktop.policy import keys
from user_handoff.desktop.policy.facts import Fact

_SUBMITS = re.compile(
    whole(
        """
        {submit|send|publish|post|save|apply|confirm|finish|complete|register|book|reserve|request|file|approve} [*]
        {done|ok|continue|next} {and|&} {submit|send}
        {absenden|senden|abschicken|speichern|veröffentlichen|bestätigen|übernehmen|einreichen|anwenden|bewerben}
        * {absenden|senden|abschicken|speichern|veröffentlichen|bestätigen|einreichen}
        {envoyer|enregistrer|publier|valider|confirmer|soumettre|appliquer} [*]
        {enviar|guardar|publicar|confirmar|aplicar|salvar} [*]
        {invia|salva|pubblica|conferma|applica} [*]
        {verzenden|versturen|opslaan|publiceren|bevestigen|indienen|toepassen}
        {wyślij|zapisz|opublikuj|potwierdź|zatwierdź} [*]
        {skicka|spara|publicera|bekräfta|gem|lagre|send|publicer|bekræft|bekreft} [*]
        {lähetä|tallenna|julkaise|vahvista|odeslat|uložit|publikovat|potvrdit|gönder|kaydet|yayınla|onayla} [*]
        {отправить|сохранить|опубликовать|подтвердить|применить|надіслати|зберегти|підтвердити} [*]
        {送信|送信する|保存|保存する|投稿|投稿する|公開|公開する|確定|確定する|申し込む|応募する}
        {提交|发送|保存|发布|确认|确定|送出|儲存|發布|確認}
        {제출|제출하기|보내기|저장|저장하기|게시|게시하기|확인}
        {إرسال|حفظ|نشر|تأكيد}
        """
    ),
    re.IGNORECASE,
)
_PRESSED = ("button", "menuitem")


def is_submitting(effect: PageEffect, reached: Iterable[Fact]) -> bool:
    """True where one of the controls sends a form or is called so; and for Enter in a field, which often needs none."""
    if isinstance(effect, Fill | Select):
        return False
    entered = isinstance(effect, Press) and keys.is_enter(effect.key)
    return any((entered and fact.field) or fact.submits or _says_so(fact) for fact in reached)


def _says_so(fact: Fact) -> bool:
    return fact.role in _PRESSED and any(_SUBMITS.search(read) for name in fact.names for read in readings(name))


class Confirmed:
    """The pages on which a person has let an agent submit.

    It is for the very next effect on the browser, whatever that is, in the document that the person saw. A runner that
    restarts knows of none.
    """

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, str]] = {}

    def put(self, browser_id: str, documents: dict[str, str]) -> None:
        """A person has confirmed what these pages show.

        Args:
            browser_id: The browser.
            documents: The loader id of each page's main document, by page.
        """
        self._documents[browser_id] = documents

    def take(self, browser_id: str, page_id: str, document: str) -> bool:
        """True where this page, in this document, was confirmed; whatever was confirmed is spent."""
        return self._documents.pop(browser_id, {}).get(page_id) == document
