"""An agent that looks at a desktop and types on it, as users write one."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from user_handoff.contract.computer import GetClipboard, SetClipboard, TypeText
    from user_handoff.contract.errors import HandoffError
    from user_handoff.workflows.agent import Desktop


@workflow.defn
class Typist:
    """Uses every kind of answer that the whole desktop gives; then says what a long effect ended with."""

    @workflow.run
    async def run(self, client_id: str, desktop_id: str, queue: str, text: str) -> list[str]:
        desktop = Desktop(client_id, desktop_id, queue)
        look = await desktop.observe(screenshot=True)
        assert look.picture is not None
        await desktop.computer(look, SetClipboard(text="copied ü"))
        read = await desktop.computer(await desktop.observe(), GetClipboard())
        said = [read.text or "", str(read.outcome)]
        try:
            await desktop.computer(await desktop.observe(), TypeText(text=text))
        except HandoffError as error:
            said += [type(error).__name__, str(error.code), str(error.details.get("handoff_id"))]
        return said
