import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { openTlsStore } from "../../../server/features/tls/store.ts";

/** Server and command line change what is served at the same time. */

const storeModule = path.resolve(import.meta.dirname, "../../../server/features/tls/store.ts");

test("two processes that put certificates leave the last one and the one before it, and nothing else", async () => {
  const data = await mkdtemp(path.join(tmpdir(), "signet-tls-store-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const folder = path.join(data, "tls");
  const make = (name: string) => {
    const line = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${name}.key -out ${name}.pem -subj /CN=${name} -days 9`;
    execFileSync("openssl", line.split(" "), { cwd: data, stdio: "pipe" });
  };
  const names = (who: string) => [1, 2, 3, 4, 5, 6].map((n) => `${who}${n}`);
  for (const name of [...names("a"), ...names("b"), ...names("c")]) make(name);
  const script = path.join(data, "writer.mjs");
  await writeFile(
    script,
    `import { readFile } from "node:fs/promises";
    import { openTlsStore } from ${JSON.stringify(storeModule)};
    const store = openTlsStore(${JSON.stringify(folder)});
    for (const name of process.argv.slice(2))
      await store.put({ source: "installed", certPem: await readFile(name + ".pem", "utf8"), keyPem: await readFile(name + ".key", "utf8") });`,
  );
  const child = promisify(execFile)(process.execPath, [script, ...names("a")], { cwd: data });
  const here = async (who: string) => {
    const store = openTlsStore(folder);
    for (const name of names(who)) {
      const [certPem = "", keyPem = ""] = await Promise.all(
        ["pem", "key"].map((end) => readFile(path.join(data, `${name}.${end}`), "utf8")),
      );
      await store.put({ source: "installed", certPem, keyPem });
    }
  };
  await Promise.all([child, here("b"), here("c")]);
  const store = openTlsStore(folder);
  const [current, previous] = [await store.current(), await store.previous()];
  expect(current).not.toBeNull();
  expect(previous).not.toBeNull();
  expect((await readdir(folder)).sort()).toEqual([current?.id ?? "", previous?.id ?? "", "state.json"].sort());
  expect((await store.back())?.id).toBe(previous?.id);
  expect((await store.previous())?.id).toBe(current?.id);
}, 60_000);

test("of many that find no certificate one makes it, and all serve that", async () => {
  const data = await mkdtemp(path.join(tmpdir(), "signet-tls-store-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  let made = 0;
  const makes = {
    isGood: () => true,
    make: async () => {
      made += 1;
      return { certPem: `authority ${made}`, keyPem: "" };
    },
    issue: async () => {
      const line =
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k.pem -out c.pem -subj /CN=own";
      execFileSync("openssl", line.split(" "), { cwd: data, stdio: "pipe" });
      return { certPem: await readFile(path.join(data, "c.pem"), "utf8"), keyPem: "" };
    },
  };
  const all = await Promise.all(
    [1, 2, 3, 4].map(() => openTlsStore(path.join(data, "tls")).currentOrOwn(() => true, makes)),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect(made).toBe(1);
});
