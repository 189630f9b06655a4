// A client of another language does the whole job; what it saw is printed as one JSON document.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const { url, token, page } = JSON.parse(process.env.JOB);
const seen = { progress: [], changes: 0, steps: [] };

const client = new Client({ name: "second-client", version: "1" });
const changed = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    seen.changes += 1;
    resolve();
  });
});
const headers = { authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

async function call(name, args, options) {
  // The SDK checks the structured result against the tool's output schema.
  const at = Date.now();
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  const came = result.isError ? result.structuredContent : result.structuredContent.result;
  seen.steps.push({ at, ms: Date.now() - at, name, arguments: args, came });
  return { ...result.structuredContent, failed: Boolean(result.isError) };
}
const act = (action, args) => call("control_browser", { do: { action, ...args } });

seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
const opened = (await act("open", { url: page })).result;
const of = { browser_id: opened.browser_id };
const wall = (await act("snapshot", of)).result;
seen.boundary = wall.boundary.rule_id;
const begun = (
  await act("begin_user_handoff", {
    ...of,
    instructions: "Sign in to the portal",
    boundary: wall.boundary,
    verify: { kind: "url", glob: "**/invoices" },
  })
).result;
seen.link = (await call("issue_browser_url", { handoff_id: begun.handoff_id })).result.url.includes("/j/");
seen.held = await act("click", { ...of, element_id: "e1" });
console.error("held"); // the person may come now

const wait = { handoff_id: begun.handoff_id, timeout_seconds: 60 };
const onprogress = (progress) => seen.progress.push(progress.message);
let waited = (await call("wait", wait, { onprogress, timeout: 90_000 })).result;
seen.after = waited.state;
for (const { page_id } of (await act("info", of)).result.pages) await act("snapshot", { ...of, page_id });
while (waited.state !== "completed") waited = (await call("wait", wait)).result;
seen.result = waited.summary.result;

const fresh = (await act("snapshot", of)).result.text;
const element = /button "Export" \[id=([^\]]+)\]/.exec(fresh)[1];
seen.outcome = (await act("click", { ...of, element_id: element })).result.outcome;
await act("close_browser", of);

console.error("done"); // the person may send something now
await changed;
seen.later = (await client.listTools()).tools.map((tool) => tool.name);
seen.read = (await call("read_person_request", {})).result.request;
seen.refused = await client.callTool({ name: "no_such_tool", arguments: {} }).catch((error) => error.data.code);
await client.close();
console.log(JSON.stringify(seen));
