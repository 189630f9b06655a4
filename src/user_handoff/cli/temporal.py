"""Which Temporal a command speaks to, and what that server must know."""

import os
from collections.abc import Mapping
from pathlib import Path

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.envconfig import ClientConfig, ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.cli.state_files import read_json
from user_handoff.client import connect_temporal
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.names import SearchAttributes
from user_handoff.desktop.identity import ProcessIdentity

UP_FILE = "up.json"
"""Written by `handoff up` into the state folder: addresses and process ids."""


def configured() -> ClientConnectConfig | None:
    """What Temporal's own environment configuration says; None where it names no address.

    Raises:
        SetupError: `temporal_unreachable`: it cannot be read, or names a profile that does not exist.
    """
    try:
        found = ClientConfig.load_client_connect_config()
    except Exception as error:  # the SDK's ConfigError is not public
        raise SetupError(
            ErrorCode.TEMPORAL_UNREACHABLE,
            f"The Temporal configuration cannot be used: {error}.",
            holds="Nothing was started.",
            do_next="Correct TEMPORAL_PROFILE, the TEMPORAL_ variables or the Temporal configuration file.",
        ) from error
    return found if found.get("target_host") else None


def running_up(state: Path) -> dict[str, object] | None:
    """What `handoff up` wrote for this state folder; None where none runs."""
    found = read_json(state / UP_FILE)
    if found is None:
        return None
    try:
        alive = ProcessIdentity(int(found["pid"]), float(found["started"])).alive()
    except (KeyError, TypeError, ValueError):
        return None
    return found if alive else None


def embedded_environment(address: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a process that shall use the embedded server, and no other that is configured."""
    kept = {name: value for name, value in environ.items() if not name.startswith("TEMPORAL_")}
    return kept | {
        "TEMPORAL_ADDRESS": address,
        "TEMPORAL_NAMESPACE": "default",
        "TEMPORAL_CONFIG_FILE": os.devnull,
    }


async def connect(state: Path) -> Client:
    """Connect to the configured server, else to the one that `handoff up` runs on this state folder.

    Raises:
        SetupError: `temporal_unreachable` or `namespace_missing`.
    """
    config = configured()
    up = running_up(state) if config is None else None
    address = str(up["address"]) if up else None
    return await connect_temporal(address=address, config=config)


async def missing_search_attributes(client: Client) -> tuple[str, ...]:
    """Which of our search attributes the namespace does not know.

    Raises:
        SetupError: `search_attributes_missing`: that cannot be read.
    """
    request = ListSearchAttributesRequest(namespace=client.namespace)
    try:
        listed = await client.operator_service.list_search_attributes(request)
    except RPCError as error:
        raise _unknown_attributes(client, "read", error) from error
    return tuple(name for name in SearchAttributes.ALL if name not in listed.custom_attributes)


async def require_search_attributes(client: Client) -> tuple[str, ...]:
    """See to it that the namespace knows our search attributes, and return those that had to be added.

    Raises:
        SetupError: `search_attributes_missing`: they are not there and cannot be added from here.
    """
    missing = await missing_search_attributes(client)
    kinds = dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD)
    request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=kinds)
    try:
        if missing:
            await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:  # another server was first
            raise _unknown_attributes(client, "added", error) from error
    return missing


def _unknown_attributes(client: Client, verb: str, error: RPCError) -> SetupError:
    flags = " ".join(f"--name {name} --type Keyword" for name in SearchAttributes.ALL)
    return SetupError(
        ErrorCode.SEARCH_ATTRIBUTES_MISSING,
        f"The search attributes of namespace {client.namespace!r} cannot be {verb} ({error.status.name.lower()}).",
        holds="Nothing was started.",
        do_next=f"Add them once, as somebody who may: `temporal operator search-attribute create {flags}`. "
        "Then start with --no-search-attribute-check.",
    )
