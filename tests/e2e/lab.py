"""A page on which every kind of effect leaves exactly one trace with its server."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

_PAGE = """<!doctype html><title>Lab</title><script>
function hit(name){fetch("/hit/"+name,{method:"POST",keepalive:true})}
addEventListener("pageshow",()=>hit("shown"))
function hang(){hit("hung");const r=new XMLHttpRequest();r.open("GET","/hang",false);try{r.send()}catch(e){}}
</script><button onclick="hit('click')">Click</button><button onclick="hang()">Hang</button>
<button disabled>Disabled</button><input aria-label="Text" onchange="hit('fill')" oninput="hit('fill')">
<input aria-label="Keys" onkeydown="hit('press')"><select aria-label="Choice" onchange="hit('select')">
<option>One<option>Two</select><a href="/file" download>File</a>
<button onclick="window.open('/popup')">Open</button>
<div style="height:300px" onclick="hit('native')"></div>"""


@dataclass
class Lab:
    """The server, and what it was told."""

    url: str = ""
    hits: Counter[str] = field(default_factory=Counter)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """Lets requests that hang be answered."""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["Lab"]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self.released.set()
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ")[1]
            self.hits[path.removeprefix("/hit")] += 1
            if path == "/hang":
                await self.released.wait()
            kind = "Content-Disposition: attachment" if path == "/file" else "Content-Type: text/html; charset=utf-8"
            body = _PAGE.encode()
            lines = ("HTTP/1.1 200 OK", kind, f"Content-Length: {len(body)}", "Connection: close")
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            await writer.drain()
        writer.close()
