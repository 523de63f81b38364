import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { runCli } from "../../server/cli.ts";

test.each(["constructor", "__proto__", "toString"])("%s, which every object has, is no command", async (name) => {
  let said = "";
  const streams = {
    stdin: Readable.from([]),
    stdout: () => undefined,
    interactive: false,
    onSignal: () => undefined,
    stderr: (text: string) => {
      said += text;
    },
  };
  expect(await runCli([name], {}, streams)).toBe(2);
  expect(said).toContain(`there is no command "${name}"`);
});
