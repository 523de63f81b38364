import { expect, test } from "vitest";
import { inert, readLine, table } from "../../server/commands/command.ts";

test("what strangers wrote moves no cursor, hides nothing and adds no line to a table", () => {
  const title = "Lease\u001b[2J\u009b31m\r\nwrong  key.seal\u202egnp.exe\u0007";
  expect(table([[title, "ok"]])).toBe("Lease\\u001b[2J\\u009b31m wrong  key.seal\\u202egnp.exe\\u0007  ok");
  expect(inert("a\rb")).toBe("a\\u000db");
});

test("lines, tabs and letters of every script stay as they are", () => {
  const text = "-----BEGIN X-----\r\nabc\n\tÄ 漢字 עברית — 😀";
  expect(inert(text)).toBe(text);
});

test("a PIN that is typed ends with its line, not with the end of the input", async () => {
  const typed = async function* () {
    yield "65";
    yield "4321\r\n";
    await new Promise(() => undefined);
  };
  expect(await readLine(typed())).toBe("654321");
});
