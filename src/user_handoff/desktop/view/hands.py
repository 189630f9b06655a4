"""One viewer's pointer and keyboard on the display: each message is checked right before it is sent."""

import time
from collections.abc import Callable

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.view.clipboard import ViewClipboard
from user_handoff.desktop.view.keys import CONTROL, SHIFTS, Pasted, character, is_key, is_letter, parts_of
from user_handoff.desktop.view.picture import Picture
from user_handoff.desktop.view.rfb import Kind, Message, key, pointer
from user_handoff.desktop.view.stage import Stage

_V = ord("v")


class Hands:
    """Sends what a viewer does, while they may.

    At most one message is on its way to the display: the next one waits until the server has read it, so that the end
    of the lease also ends what is in flight.

    Attributes:
        passed: How many messages were sent.
        dropped: How many were not, since there was no lease.
    """

    def __init__(
        self,
        picture: Picture,
        clipboard: ViewClipboard,
        stage: Stage,
        may: Callable[[], bool],
        seems: Callable[[], bool],
        missed: Callable[[], None],
    ) -> None:
        """Prepare.

        Args:
            picture: Where input is sent.
            clipboard: What pastes.
            stage: Whether the keyboard is where the viewer looks.
            may: Whether the viewer may type at this moment.
            seems: The same as far as is known without a look at what others may have changed.
            missed: Called where something was dropped although they may.
        """
        self._picture = picture
        self._clipboard = clipboard
        self._stage = stage
        self._may = may
        self._seems = seems
        self._missed = missed
        self._keys: dict[int, None] = {}
        self._buttons = 0
        self._place = (0, 0)
        self._stopped = False
        self.passed = 0
        self.dropped = 0

    async def pass_on(self, message: Message) -> None:
        """Send a key or a movement of the pointer; a key that the keyboard lacks is pasted as a text."""
        await self._begin()
        if message.kind is Kind.KEY and not is_key(message.keysym):
            text = character(message.keysym) if message.down else None
            if text is not None:
                await self._type(text)
            return
        if message.kind is Kind.KEY and not message.down and message.keysym not in self._keys:
            return  # it was never pressed, or is released already
        await self._all(self._with_shift(message))

    def at_once(self, message: Message) -> bool:
        """Send a movement of the pointer, or a button that is released, where nothing has to be waited for.

        Returns:
            False where something has to; nothing was done then.
        """
        moves = message.kind is Kind.POINTER and not message.buttons & ~self._buttons
        if not moves or self._clipboard.pasting.locked() or self._picture.unread:
            return False
        self._stopped = False
        if self._may():
            self._dispatch(message)
        else:
            self._drop()
        return True

    async def type(self, text: str) -> bool:
        """Type a text exactly: by keys where the keyboard has them, else by a paste.

        Returns:
            False where it was not, or not all of it, since there is no lease any more or nothing took the paste.
        """
        await self._begin()
        return await self._type(text)

    async def _begin(self) -> None:
        """Something new is done: under this lease, and after what another was about to paste is gone."""
        self._stopped = False
        if self._clipboard.pasting.locked() and self._may():
            await self._clipboard.free()

    async def _type(self, text: str) -> bool:
        self.let_go()
        for part in parts_of(text):
            if isinstance(part, Pasted):
                if not await self._paste(part.text):
                    return False
                continue
            for keysym in part.keysyms:
                if not await self._all(self._with_shift(key(keysym, down=True))):
                    return False
                await self._send(key(keysym, down=False))
        return True

    def stop(self) -> None:
        """What is being done ends here, even where they may go on with something else soon; nothing stays pressed."""
        self._stopped = True
        self.let_go()

    def let_go(self) -> None:
        """Release every key and button that is held down. Needs no lease, and waits for nothing."""
        for keysym in reversed(self._keys):
            self._picture.write(key(keysym, down=False).data)
        if self._buttons:
            self._picture.write(pointer(0, *self._place).data)
        self._keys.clear()
        self._buttons = 0

    def _with_shift(self, message: Message) -> list[Message]:
        """A letter with the Shift that it needs: else the display switches its Caps Lock for it, and leaves it so."""
        held = [keysym for keysym in SHIFTS if keysym in self._keys]
        if message.kind is not Kind.KEY or not message.down or not is_letter(message.keysym):
            return [message]
        if chr(message.keysym).isupper():
            return [message] if held else [key(SHIFTS[0], down=True), message, key(SHIFTS[0], down=False)]
        up, down = ([key(keysym, down=way) for keysym in held] for way in (False, True))
        return [*up, message, *down]

    async def _all(self, messages: list[Message]) -> bool:
        """Send one after the other; where one is not sent, nothing stays pressed."""
        for message in messages:
            if not await self._send(message):
                if len(messages) > 1:
                    self.let_go()
                return False
        return True

    async def _send(self, message: Message) -> bool:
        if self._stopped or not self._seems():  # who may not waits for nothing
            return self._drop()
        if not await self._reaches(message):
            if self._goes_on():
                self._missed()
            return self._drop()
        if not self._goes_on():  # asked last: the waits may have been long
            return self._drop()
        self._dispatch(message)
        return True

    def _dispatch(self, message: Message) -> None:
        self._note(message)
        self._picture.write(message.data)
        self.passed += 1

    def _goes_on(self) -> bool:
        return not self._stopped and self._may()

    async def _reaches(self, message: Message) -> bool:
        """True where all that was sent before was read, and this lands: seen after that, since it may take long."""
        if not await self._lands(message):
            return False
        if not self._picture.unread:
            return True
        await self._picture.settled()
        return await self._lands(message)

    async def _lands(self, message: Message) -> bool:
        """True where what is pressed now reaches the browser that is shown, and no other program."""
        if message.kind is Kind.POINTER:
            return not message.buttons & ~self._buttons or await self._stage.is_clear(may=self._goes_on)
        return not message.down or await self._stage.has_keyboard(self._goes_on)

    def _drop(self) -> bool:
        self.dropped += 1
        return False

    def _note(self, message: Message) -> None:
        if message.kind is Kind.POINTER:
            self._buttons, self._place = message.buttons, message.place
        elif message.down:
            self._keys[message.keysym] = None
        else:
            self._keys.pop(message.keysym, None)

    async def _paste(self, text: str) -> bool:
        async with self._clipboard.pasting:
            return await self._paste_alone(text)

    async def _paste_alone(self, text: str) -> bool:
        if not self._goes_on():
            return self._drop()
        try:
            pid = await self._clipboard.offer(text, self._goes_on)
            pressed = time.monotonic()
            done = await self._press_paste()
            return done and await self._clipboard.taken(pid, pressed, self._goes_on)
        except HandoffError:
            return self._drop()
        finally:
            await self._clipboard.clear()

    async def _press_paste(self) -> bool:
        pressed, released = (
            [key(CONTROL, down=True), key(_V, down=True)],
            [key(_V, down=False), key(CONTROL, down=False)],
        )
        return await self._all([*pressed, *released])
