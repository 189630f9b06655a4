import { chromium } from "playwright-core";
import { addresses, serve } from "./steps.mjs";

const browser = await chromium.connectOverCDP(addresses.websocket);
const page = () => browser.contexts()[0].pages()[0];

await serve({
  work: async () => {
    await page().title();
    await page().locator("button").click({ timeout: 5000 });
  },
  click: () => page().mouse.click(20, 20),
  locator: () => page().locator("button").click({ timeout: 1500 }),
  run: () => page().evaluate("document.title"),
  see: () => page().screenshot(),
  go: () => page().goto("about:blank", { timeout: 3000 }),
});
