// What every client in JavaScript shares: one step for each line of standard input, one line of JSON for each answer.
import readline from "node:readline";

export const addresses = JSON.parse(process.env.ADDRESSES);

export async function serve(steps) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const began = performance.now();
    const said = { ok: true, said: "" };
    try {
      said.said = String((await steps[line.trim()]()) ?? "");
    } catch (error) {
      said.ok = false;
      said.said = String(error.message ?? error);
    }
    said.ms = Math.round((performance.now() - began) * 10) / 10;
    process.stdout.write(JSON.stringify(said) + "\n");
  }
  process.exit(0);
}
