"""Messages whose number of inputs is wrong wedge no workflow: a person may type anything into the Temporal UI."""

import inspect
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.worker import (
    HandleSignalInput,
    HandleUpdateInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.failures import to_failure


class WellFormed(Interceptor):
    """For every worker, and every replay, of our workflows.

    Left to themselves, such messages fail the workflow's task again and again. A signal is dropped, an update refused;
    where nothing is asked for, whatever is given is ignored.
    """

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor] | None:
        """See base class."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    async def handle_signal(self, input: HandleSignalInput) -> None:
        args = _fitting(workflow.get_signal_handler(input.signal), input.args)
        if args is None:
            workflow.logger.warning("A signal %s was dropped: it has %d inputs.", input.signal, len(input.args))
            return
        input.args = args
        await super().handle_signal(input)

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
        args = _fitting(_method(input.update), input.args)
        if args is None:
            raise to_failure(
                make_error(
                    ErrorCode.INVALID_REQUEST,
                    f"The update {input.update} does not take {len(input.args)} inputs.",
                    holds="Nothing was changed.",
                    do_next="Send the one input that its description names.",
                )
            )
        input.args = args
        return await super().handle_update_handler(input)


def _method(update: str) -> Callable[..., Any] | None:
    """The method behind an update, which has its name; the handler that the SDK gives hides its parameters."""
    return getattr(workflow.instance(), update, None)


def _fitting(handler: Callable[..., Any] | None, args: Any) -> Any:
    """The inputs that the handler can be called with; None where there are none such."""
    if handler is None:
        return args
    signature = inspect.signature(handler)
    if not signature.parameters:
        return []
    try:
        signature.bind(*args)
    except TypeError:
        return None
    return args
