"""Reaching Temporal: temporalio's own environment configuration, and typed failures that say what to do."""

import asyncio
import dataclasses
import os
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Plugin
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter
from temporalio.converter import DefaultPayloadConverter
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.codec import codec_from_environment, with_codec
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import Answer, HandoffState, Reply, Summary

DEFAULT_ADDRESS: Final = "localhost:7233"


async def connect_temporal(
    address: str | None = None,
    namespace: str | None = None,
    timeout_seconds: float = 10,
    plugins: Sequence[Plugin] = (),
    *,
    config: ClientConnectConfig | None = None,
) -> Client:
    """Connect to Temporal, and check that the namespace is there.

    Args:
        address: ``host:port``; None takes it from the configuration, and `DEFAULT_ADDRESS` where that has none.
        namespace: None takes it from the configuration.
        timeout_seconds: The bound of all of it.
        plugins: Plugins of the client, which reach its workers too.
        config: Where to connect; None reads ``TEMPORAL_*`` variables and the Temporal configuration file.

    Raises:
        SetupError: ``temporal_unreachable``, ``namespace_missing`` or ``codec_keys_invalid``; it says what to do.
    """
    converter = with_codec(pydantic_data_converter, codec_from_environment())
    settings = _load() if config is None else config.copy()
    if address is not None:
        settings["target_host"] = address
    if namespace is not None:
        settings["namespace"] = namespace
    target = settings.setdefault("target_host", DEFAULT_ADDRESS)
    name = settings.setdefault("namespace", "default")
    try:
        async with asyncio.timeout(timeout_seconds):
            client = await Client.connect(**settings, data_converter=converter, plugins=plugins)
            await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=name),
                timeout=timedelta(seconds=timeout_seconds),
            )
    except (RPCError, RuntimeError, TimeoutError, ValueError) as error:
        raise _typed(error, target, name) from error
    return client


def with_pydantic(client: Client) -> Client:
    """The client, able to carry our models: the default payload converter is replaced, a codec is kept.

    Raises:
        Refused: ``invalid_request``: the client has a payload converter of its own that loses our models.
    """
    converter = client.data_converter
    if converter.payload_converter_class is DefaultPayloadConverter:
        converter = dataclasses.replace(converter, payload_converter_class=PydanticPayloadConverter)
        # The plugins have had their say over this configuration already.
        config = client.config(active_config=True)
        config["data_converter"] = converter
        config["plugins"] = []
        return Client(**config)
    if not _carries_models(client):
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"The payload converter {converter.payload_converter_class.__name__} of this client loses our models.",
            holds="Nothing was sent.",
            do_next="Make the client with temporalio.contrib.pydantic.pydantic_data_converter, or one derived from it.",
        )
    return client


def _load() -> ClientConnectConfig:
    try:
        return ClientConfig.load_client_connect_config()
    except (RuntimeError, ValueError, OSError) as error:
        raise make_error(
            ErrorCode.TEMPORAL_UNREACHABLE,
            "The Temporal client configuration cannot be read.",
            holds="Nothing was connected.",
            do_next="Mend the TEMPORAL_* variables and the file that TEMPORAL_CONFIG_FILE names.",
        ) from error


def _typed(error: Exception, target: str, name: str) -> HandoffError:
    status = error.status if isinstance(error, RPCError) else None
    if status is RPCStatusCode.NOT_FOUND:
        return make_error(
            ErrorCode.NAMESPACE_MISSING,
            f"Temporal at {target} has no namespace {name!r}.",
            holds="Nothing was started.",
            do_next=f"Create it (temporal operator namespace create {name}), or set TEMPORAL_NAMESPACE to another.",
            namespace=name,
        )
    if status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED):
        return make_error(
            ErrorCode.TEMPORAL_UNREACHABLE,
            f"Temporal at {target} refuses these credentials for the namespace {name!r}.",
            holds="Nothing was started.",
            do_next="Set TEMPORAL_API_KEY or the TEMPORAL_TLS_* variables.",
        )
    return make_error(
        ErrorCode.TEMPORAL_UNREACHABLE,
        f"No Temporal server answers at {target}.",
        holds="Nothing was started.",
        do_next="Start one (handoff up brings its own), or set TEMPORAL_ADDRESS"
        + ("." if "TEMPORAL_ADDRESS" not in os.environ else " to one that runs."),
        address=target,
    )


def _carries_models(client: Client) -> bool:
    """Whether models with nested models and times come back as they were."""
    now = datetime.now(UTC)
    sample = Summary(handoff_id="handoff/b/s/m", state=HandoffState.HELD, owner="o", instructions="i", requested_at=now)
    values = (sample, Reply(answer=Answer.DONE, by="me"))
    converter = client.data_converter.payload_converter
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            back = converter.from_payloads(converter.to_payloads(values), [Summary, Reply])
    except Exception:  # a foreign converter may raise anything: it cannot do it
        return False
    return tuple(back) == values
