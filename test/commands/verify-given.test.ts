import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandOn } from "../harness/cli.ts";

test("what is given to check a file with, and cannot be used, is a wrong call: no defect, and no fault of the file", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-given-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [file, garbage, other] = ["evidence.zip", "keys.json", "other.json"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(file, "PK\u0003\u0004");
  await writeFile(garbage, "{ not: json");
  await writeFile(other, '{"a":1}');
  const missing = path.join(folder, "missing");
  const verify = async (...args: string[]) => {
    const { code, err, json } = await commandOn(folder)("verify", ...args, "--json");
    return { code, err, ...json() };
  };
  for (const keys of [garbage, other])
    expect(await verify(file, "--keys", keys)).toEqual({
      code: 2,
      err: "",
      error: `--keys: ${keys} holds no anchor keys`,
    });
  for (const option of ["keys", "trust", "trust-timestamps"])
    expect(await verify(file, `--${option}`, missing)).toMatchObject({
      code: 2,
      error: expect.stringContaining(`--${option}: ${missing} cannot be read (ENOENT`),
    });
  expect(await verify(garbage, "--bundle", missing)).toMatchObject({
    code: 2,
    error: expect.stringContaining("--bundle: "),
  });
  // Of the file itself it is still said.
  expect(await verify(missing)).toMatchObject({ code: 1, verdict: "unreadable", causes: ["no-such-file"] });
});
