"""The keys of principals: made here, kept as hashes, and taken back."""

from temporalio import workflow

from user_handoff.contract.access import CreateKey, KeyRecord, Keys, KeyView, RevokeKey
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.markdown import literal
from user_handoff.contract.names import Workflows

MAX_KEYS = 500
"""An installation that has so many valid keys refuses the next one."""

MAX_REVOKED = 500
"""How many revoked keys are still listed; older ones are forgotten, and let nobody in either."""

_CREATE = "Remember a principal's key by its SHA-256. The same key id again changes nothing."
_REVOKE = "Let nobody in with a key any more. Revoking it again changes nothing."


@workflow.defn(name=Workflows.KEYS)
class KeysWorkflow:
    """All keys of an installation. Nothing here lets anyone in: a key is shown once, by whoever made it."""

    @workflow.init
    def __init__(self, carried: Keys | None = None) -> None:
        self._keys = {record.view.key_id: record for record in (carried or Keys()).keys}

    @workflow.run
    async def run(self, carried: Keys | None = None) -> None:
        """Live for ever."""
        self._show()
        await workflow.wait_condition(lambda: workflow.info().is_continue_as_new_suggested())
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(self.view())

    @workflow.update(name=Workflows.CREATE_KEY, description=_CREATE)
    def create(self, key: CreateKey) -> KeyView:
        """Remember a key."""
        if key.key_id not in self._keys:
            view = KeyView(key_id=key.key_id, name=key.name, scopes=key.scopes, created_at=workflow.now())
            self._keys[key.key_id] = KeyRecord(view=view, sha256=key.sha256)
            self._show()
        return self._keys[key.key_id].view

    @create.validator
    def _check_create(self, key: CreateKey) -> None:
        known = self._keys.get(key.key_id)
        if known is not None and known.sha256 != key.sha256:
            raise to_failure(_refusal("This key's id is taken.", "Mint another id."))
        if known is None and len(self._valid()) >= MAX_KEYS:
            raise to_failure(_refusal(f"There are {MAX_KEYS} valid keys.", "Revoke one that is not used."))

    @workflow.update(name=Workflows.REVOKE_KEY, description=_REVOKE)
    def revoke(self, revoke: RevokeKey) -> KeyView:
        """Take a key back."""
        record = self._keys[revoke.key_id]
        if record.view.revoked_at is None:
            view = record.view.model_copy(update={"revoked_at": workflow.now()})
            self._keys[revoke.key_id] = record.model_copy(update={"view": view})
            revoked = [key_id for key_id, each in self._keys.items() if each.view.revoked_at is not None]
            for key_id in revoked[: max(0, len(revoked) - MAX_REVOKED)]:
                del self._keys[key_id]
            self._show()
            return view
        return record.view

    @revoke.validator
    def _check_revoke(self, revoke: RevokeKey) -> None:
        if revoke.key_id not in self._keys:
            raise to_failure(_refusal("There is no key of this id.", "List the keys."))

    @workflow.query(name=Workflows.VIEW, description="All keys, by their hashes.")
    def view(self) -> Keys:
        """Tell."""
        return Keys(keys=tuple(self._keys.values()))

    def _valid(self) -> list[KeyRecord]:
        return [record for record in self._keys.values() if record.view.revoked_at is None]

    def _show(self) -> None:
        lines = [f"{len(self._valid())} of {len(self._keys)} keys are valid."]
        lines += [f"- `{record.view.key_id}` {literal(record.view.name)}" for record in self._valid()[:50]]
        workflow.set_current_details("\n".join(lines))


def _refusal(what: str, do_next: str) -> HandoffError:
    return make_error(ErrorCode.INVALID_REQUEST, what, holds="The keys are as they were.", do_next=do_next)
