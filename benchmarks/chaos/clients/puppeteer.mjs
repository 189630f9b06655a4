import puppeteer from "puppeteer-core";
import { addresses, serve } from "./steps.mjs";

const browser = await puppeteer.connect({ browserWSEndpoint: addresses.websocket, defaultViewport: null });
const page = async () => (await browser.pages())[0];

await serve({
  work: async () => {
    await (await page()).title();
    await (await page()).click("button");
  },
  click: async () => (await page()).mouse.click(20, 20),
  locator: async () => (await page()).locator("button").setTimeout(1500).click(),
  run: async () => (await page()).evaluate("document.title"),
  see: async () => (await page()).screenshot(),
  go: async () => (await page()).goto("about:blank", { timeout: 3000 }),
});
