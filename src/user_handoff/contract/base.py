"""The base of every model that crosses a boundary."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from user_handoff.contract.ids import ID_PATTERN

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
"""An id of ours."""


class Model(BaseModel):
    """Closed and immutable: an unknown field is an error, never a silent loss."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        # What somebody typed into a wrong field is repeated in no error and no log.
        hide_input_in_errors=True,
    )
