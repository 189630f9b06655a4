"""The pages of the fixture portal as text. Nothing here decides anything."""

import html
from collections.abc import Sequence
from typing import NamedTuple

_STYLE = """
*{box-sizing:border-box} body{margin:0;min-height:100vh;background:#f3f5f9;color:#1c2333;
font:16px/1.5 system-ui,"DejaVu Sans",sans-serif} .bar{background:#1f3a5f;color:#fff;padding:14px 32px;font-weight:600}
main{max-width:860px;margin:28px auto;background:#fff;padding:24px 32px;border-radius:10px;
box-shadow:0 1px 4px rgba(20,30,60,.15)} main.narrow{max-width:400px} h1{margin:0 0 16px;font-size:24px}
label{display:block;margin:12px 0;font-weight:600} input{display:block;width:100%;margin-top:4px;padding:9px 10px;
font:inherit;border:1px solid #aab4c5;border-radius:6px} button{padding:9px 18px;margin:8px 8px 0 0;font:inherit;
border:0;border-radius:6px;background:#2463b3;color:#fff;cursor:pointer} button.plain{background:#e4e9f1;color:#1c2333}
table{width:100%;border-collapse:collapse;margin:8px 0} td,th{text-align:left;padding:6px 10px;
border-bottom:1px solid #e3e7ef} td:nth-child(4){text-align:right} p.bad{color:#a51d2d;font-weight:600}
nav a{margin-right:16px} form.inline{display:inline}
"""

_TOUCH = """<script>function touch(){fetch("/api/touch",{method:"POST"})}</script>"""

# Tells the portal which field has the native focus, or that the page was clicked beside them ("-"): never what is in
# one. It waits for the first picture: until then Chromium throws away what is typed, also after frames were asked for.
_EYES = """<script>let seen=new Promise(shown=>new PerformanceObserver(shown).observe({type:"paint",buffered:true}));
const frame=()=>new Promise(requestAnimationFrame);const tell=what=>{seen=seen.then(frame).then(frame).then(()=>
fetch("/eyes/"+what,{method:"POST",keepalive:true})).catch(()=>{})};
addEventListener("focusin",e=>{if(e.target.id)tell(e.target.id)});
addEventListener("mouseup",e=>{if(!e.target.closest?.("input"))tell("-")})</script>"""


class Invoice(NamedTuple):
    """One row of the dashboard and of the export."""

    number: str
    customer: str
    date: str
    amount: str
    status: str


INVOICES: tuple[Invoice, ...] = tuple(
    Invoice(f"INV-{2041 + i}", customer, f"2025-{1 + i:02d}-15", f"{1_180 + 317 * i}.{(i * 37) % 100:02d}", status)
    for i, (customer, status) in enumerate(
        zip(
            (
                "Alder Mills",
                "Brook & Sons",
                "Cedar Works",
                "Dune Freight",
                "Elm Optics",
                "Fjord Foods",
                "Glen Textiles",
                "Harbour Paints",
                "Isle Bikes",
                "Juniper Labs",
                "Kiln Ceramics",
                "Larch Timber",
            ),
            ("paid", "open", "paid", "late") * 3,
            strict=True,
        )
    )
)
"""What the dashboard shows and the export holds."""


def page(title: str, body: str, *, narrow: bool = False) -> str:
    """A whole page of the portal. `body` is markup; `title` is escaped."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<style>{_STYLE}</style><div class="bar">Example Portal</div>'
        f'<main class="{"narrow" if narrow else ""}">{body}</main></html>'
    )


def login() -> str:
    """User name and password. The first field is the first thing that Tab reaches."""
    return page(
        "Sign in",
        """<h1>Sign in</h1><form method="post" action="/login">
<label>User name <input id="username" name="username" autocomplete="username" autofocus></label>
<label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button><button type="button" class="plain" onclick="touch()">Need help?</button></form>"""
        + _EYES
        + _TOUCH,
        narrow=True,
    )


def code() -> str:
    """The second factor."""
    return page(
        "Confirm it is you",
        """<h1>Confirm it is you</h1><p>Enter the code from your authenticator.</p>
<form method="post" action="/login/code"><label>One-time code <input id="code" name="code" inputmode="numeric"
autocomplete="one-time-code" autofocus></label><button>Confirm</button></form>"""
        + _EYES,
        narrow=True,
    )


def failed(what: str, again: str) -> str:
    """A sign-in that failed, served with status 200 as many portals do."""
    body = f'<h1>Sign-in failed</h1><p class="bad" role="alert">{html.escape(what)}</p><a href="{again}">Try again</a>'
    return page("Sign-in failed", body, narrow=True)


def invoices(rows: Sequence[Invoice] = INVOICES) -> str:
    """The dashboard behind the login."""
    head = "".join(f"<th>{name.title()}</th>" for name in Invoice._fields)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return page(
        "Invoices",
        f"""<h1>Invoices</h1><nav><a href="/account">Account</a><a href="/logout">Sign out</a></nav>
<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>
<form class="inline" action="/invoices/export"><button>Export</button></form>
<button class="plain" onclick="touch()">Mark all as seen</button>{_TOUCH}""",
    )


def account(username: str) -> str:
    """Another page behind the login."""
    return page("Account", f'<h1>Account</h1><p>{html.escape(username)}</p><a href="/invoices">Invoices</a>')


def consent() -> str:
    """A step that asks with a native dialog."""
    return page(
        "Consent",
        """<h1>Consent</h1><button id="allow" onclick="ask()">Allow access</button><p id="said" role="status"></p>
<script>function ask(){const yes=confirm("Let the assistant read your invoices?");
document.getElementById("said").textContent=yes?"Allowed":"Not allowed";
fetch("/api/consent/"+(yes?"yes":"no"),{method:"POST"})}</script>""",
    )


def windows() -> str:
    """Every way in which a page opens another one."""
    return page(
        "Windows",
        """<h1>Windows</h1><a href="/popup" target="_blank">Open a tab</a>
<button onclick="open('/popup','popup','width=420,height=320')">Open a popup</button>
<button onclick="open('/popup?close=1','popup','width=420,height=320')">Open a popup that closes itself</button>
<p id="said" role="status"></p><script>addEventListener("message",e=>{
if(e.origin===location.origin)document.getElementById("said").textContent="The popup is done"})</script>""",
    )


def popup(closes: bool) -> str:
    """What `windows` opens."""
    script = 'function done(){opener&&opener.postMessage("done",location.origin);close()}'
    script += "setTimeout(done,300)" if closes else ""
    return page("Popup", f'<h1>Popup</h1><button onclick="done()">Close</button><script>{script}</script>')


def app() -> str:
    """A single-page application that keeps its login in sessionStorage, and nowhere else."""
    return page(
        "Application",
        """<h1 id="head">Application</h1><form id="form"><label>Password <input id="password" type="password"></label>
<button>Enter</button></form><script>
async function show(){const token=sessionStorage.getItem("token");if(!token)return;
const r=await fetch("/api/app/me",{headers:{Authorization:"Bearer "+token}});
if(r.ok){document.getElementById("head").textContent="Inside";document.getElementById("form").hidden=true}}
document.getElementById("form").addEventListener("submit",async e=>{e.preventDefault();
const r=await fetch("/api/app/login",{method:"POST",body:new URLSearchParams({password:e.target[0].value})});
if(r.ok){sessionStorage.setItem("token",(await r.json()).token);show()}});show()</script>"""
        + _EYES,
        narrow=True,
    )


def big(count: int) -> str:
    """About `count` nodes of an accessibility tree."""
    row = '<div><button>Button {0}</button><a href="#{0}">Link {0}</a><p>Text {0}</p></div>'
    return page("Big", "<h1>Big</h1>" + "".join(row.format(i) for i in range(count // 4)))


def slow(milliseconds: int) -> str:
    """A button whose click keeps the page busy for a while, then touches."""
    return page(
        "Slow",
        f"""<h1>Slow</h1><button onclick="busy()">Slow</button>{_TOUCH}<script>
function busy(){{const end=performance.now()+{milliseconds};while(performance.now()<end);touch()}}</script>""",
    )


def relabel() -> str:
    """A button that keeps its node while its label changes from Cancel to Pay."""
    return page(
        "Relabel",
        f"""<h1>Relabel</h1><button id="pay" onclick="touch()">Cancel</button>
<button onclick="document.getElementById('pay').textContent='Pay 999'">Switch</button>{_TOUCH}""",
    )
