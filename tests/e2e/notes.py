"""A page that is one text field, and tells its server what is in it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import unquote

_PAGE = """<!doctype html><meta charset=utf-8><title>Notes</title><body style="margin:0;background:#fff">
<textarea id=t autofocus spellcheck=false style="position:fixed;inset:0;width:100%;height:100%;font:24px monospace">
</textarea><script>
const tell = (what, body) => fetch('/' + what, {method: 'POST', body: encodeURIComponent(body)});
t.addEventListener('input', () => tell('text', t.value));
for (const kind of ['keydown', 'keyup'])
  t.addEventListener(kind, e => e.key.length > 1 && tell('key', kind + ' ' + e.key));
t.addEventListener('mousedown', e => tell('key', 'mousedown ' + e.button));
addEventListener('mouseup', e => tell('key', 'mouseup ' + e.button));
history.replaceState(null, '', 'BACK');
</script>"""


@dataclass
class Notes:
    """The server, and what it was told last."""

    url: str = ""
    text: str = ""
    keys: tuple[str, ...] = ()
    back: str = "/"
    """Where the page says it is once it is loaded, as a site does that somebody came back to."""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["Notes"]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next((int(line.split(":")[1]) for line in head.split("\r\n") if "ength:" in line), 0)
            said = unquote((await reader.readexactly(length)).decode())
            if head.startswith("POST /text"):
                self.text = said
            elif head.startswith("POST /key"):
                self.keys += (said,)
            body = b"" if head.startswith("POST") else _PAGE.replace("BACK", self.back).encode()
            kind = "Content-Type: text/html; charset=utf-8"
            lines = ("HTTP/1.1 200 OK", kind, f"Content-Length: {len(body)}", "Connection: close")
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            await writer.drain()
        writer.close()
