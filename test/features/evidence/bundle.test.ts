import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { examinePdf, examineToken } from "../../../apps/shared/validation/examine.ts";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { checkBundle as checkFiles, type Pins } from "../../../server/features/evidence/bundle/check.ts";
import { bundleFiles, type Files } from "../../../server/features/evidence/bundle/contents.ts";
import { readZip, zipParts } from "../../../server/features/evidence/bundle/zip.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { pinsFrom, sealedEnvelope } from "../../harness/bundles.ts";
import { movableClock } from "../../harness/clock.ts";
import { envelopeOf, publishTemplate, refusal, send } from "../../harness/scenario.ts";

const inflate = async (bytes: Uint8Array) => inflateRawSync(bytes);
const clock = movableClock();
/** With the pages' own checks, which run here too. */
const checkBundle = (all: Files, trusted: Pins, held?: Uint8Array) =>
  checkFiles(all, trusted, { pdf: examinePdf, token: examineToken, at: clock.ts() }, held);
let app: TestAppliance;
let folder: string;
let template: string;
let envelope: string;
let zip: Buffer;
let files: Map<string, Uint8Array>;
let pins: Pins;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "signet-bundle-"));
  app = await startAppliance({ clock });
  template = await publishTemplate(app);
  envelope = await sealedEnvelope(app, clock, template);
  const response = await app.call(`/v1/envelopes/${envelope}/evidence`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/zip");
  expect(response.headers.get("content-disposition")).toContain("attachment");
  zip = Buffer.from(await response.arrayBuffer());
  files = await readZip(zip, inflate);
  pins = await pinsFrom(app);
});
afterAll(async () => {
  await app?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("the evidence bundle", () => {
  test("holds every file, and other programs read it", async () => {
    const file = path.join(folder, "evidence.zip");
    await writeFile(file, zip);
    expect(execFileSync("unzip", ["-t", file]).toString()).toContain("No errors detected");
    const python =
      "import zipfile,sys,json;z=zipfile.ZipFile(sys.argv[1]);assert z.testzip() is None;print(json.dumps(z.namelist()))";
    const names: unknown = JSON.parse(execFileSync("python3", ["-c", python, file]).toString());
    expect(names).toEqual([...files.keys()]);
    // No outside authority has stamped it.
    const absent: readonly string[] = [bundleFiles.verifier, bundleFiles.timestampAuthorities];
    const expected = Object.values(bundleFiles).filter((name) => !absent.includes(name));
    expect(names).toEqual(expect.arrayContaining([...expected, "attachments/passport.png"]));
    expect(names).not.toContain("attachments/../evil");
  });

  test("is the same every time, and comes only once an anchor covers the seal", async () => {
    const again = await app.call(`/v1/envelopes/${envelope}/evidence`);
    expect(Buffer.from(await again.arrayBuffer()).equals(zip)).toBe(true);
    const unknown = "/v1/envelopes/env_000000000000000000000001/evidence";
    expect(await refusal(app, unknown)).toEqual({ status: 404, code: "not-found" });
    const lesser = await app.createKey("live", ["template:read"]);
    expect((await app.call(`/v1/envelopes/${envelope}/evidence`, { key: { bearer: lesser } })).status).toBe(403);
    const test = await app.call(`/v1/envelopes/${envelope}/evidence`, { key: "test" });
    expect(test.status).toBe(404);
  });

  test("is proven under pinned keys, and only consistent without them", async () => {
    const report = await checkBundle(files, pins);
    const open = report.steps.flatMap(({ ok, code }) => (ok === true ? [] : [code]));
    expect(open).toEqual(["token-absent", ...report.unproven.map(({ reason }) => reason)]);
    expect(report.verdict).toBe("valid");
    expect((await checkBundle(files, { kids: [], certificates: [] })).verdict).toBe("unpinned");
    expect((await checkBundle(files, { ...pins, certificates: [] })).verdict).toBe("unpinned");
    expect((await checkBundle(files, { ...pins, kids: [] })).verdict).toBe("unpinned");
  });

  test("any file of it that is changed is found", async () => {
    const evidence = [...files.keys()].filter((name) => name !== bundleFiles.readme && name !== bundleFiles.verifier);
    expect(evidence.length).toBeGreaterThanOrEqual(10);
    for (const name of evidence) {
      const bytes = files.get(name) ?? new Uint8Array(0);
      // Authorities: in the key, so that it stays a certificate. Elsewhere in the middle.
      const at = name === bundleFiles.authorities ? Math.floor(bytes.length / 3) : Math.floor(bytes.length / 2);
      const changed = Uint8Array.from(bytes);
      changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
      const report = await checkBundle(new Map([...files, [name, changed]]), pins);
      expect(report.verdict, name).toBe("invalid");
      if (name !== bundleFiles.checkpoint && !name.startsWith("attachments/")) {
        const without = new Map(files);
        without.delete(name);
        expect((await checkBundle(without, pins)).verdict, `${name} missing`).toBe("invalid");
      }
    }
    const pdf = files.get(bundleFiles.document) ?? new Uint8Array(0);
    for (const document of [Uint8Array.of(...pdf, 0x0a), pdf.subarray(0, pdf.length - 1)])
      expect((await checkBundle(files, pins, document)).verdict).toBe("invalid");
    const strange = new Map([...files, ["attachments/more.txt", Buffer.from("new")]]);
    expect((await checkBundle(strange, pins)).verdict).toBe("invalid");
  });

  test("the trail without its last entries before the seal, or with one rewritten, is found", async () => {
    const trail: { hash: string; prevHash: string; seq: number; data: object }[] = JSON.parse(
      Buffer.from(files.get(bundleFiles.audit) ?? []).toString(),
    );
    const withTrail = (entries: unknown) =>
      checkBundle(
        new Map([...files, [bundleFiles.audit, Buffer.from(canonicalize(JSON.parse(JSON.stringify(entries))))]]),
        pins,
      );
    expect((await withTrail(trail)).verdict).toBe("valid");
    expect((await withTrail(trail.slice(0, 3))).verdict).toBe("invalid");
    expect((await withTrail(trail.slice(1))).verdict).toBe("invalid");
    let head = "0".repeat(64);
    const rewritten = trail.map(({ hash: _, ...entry }, index) => {
      const next = { ...entry, prevHash: head, ...(index === 1 ? { data: { lie: true } } : {}) };
      head = createHash("sha256")
        .update(canonicalize(JSON.parse(JSON.stringify(next))))
        .digest("hex");
      return { ...next, hash: head };
    });
    expect((await withTrail(rewritten)).verdict).toBe("invalid");
  });

  test("the README's commands are right", async () => {
    const place = path.join(folder, "by-hand");
    execFileSync("unzip", ["-q", "-o", path.join(folder, "evidence.zip"), "-d", place]);
    // What the commands call stands in the bundle: it is named here for the table of packages.
    const sh = (command: string) =>
      execFileSync("bash", ["-euo", "pipefail", "-c", `command -v openssl xxd >&2; ${command}`], {
        cwd: place,
        stdio: "pipe",
      }).toString();
    const json = async (name: string): Promise<Record<string, unknown>> =>
      JSON.parse(await readFile(path.join(place, name), "utf8"));
    const readme = await readFile(path.join(place, "README.txt"), "utf8");
    const line = (start: string) =>
      readme
        .split("\n")
        .find((one) => one.trim().startsWith(start))
        ?.trim() ?? "";
    expect(sh("sha256sum document.pdf")).toContain((await json("leaf.json")).documentSha256);
    const leaf = line("{ printf '\\000'").split("   ")[0] ?? "";
    expect(sh(leaf)).toContain((await json("proof.json")).leafHash);
    const key = line("{ printf '302a");
    const x = Buffer.from(JSON.parse(await readFile(path.join(place, "keys.json"), "utf8")).keys[0].x, "base64url");
    expect(x.length).toBe(32);
    const body = `python3 - <<'P'
import json
a=json.load(open('anchor.json'))
for k in ('anchorHash','signature','consistency','timestampToken'): del a[k]
open('body','w').write(json.dumps(a,sort_keys=True,separators=(',',':')))
import base64
open('signature','wb').write(base64.b64decode(json.load(open('anchor.json'))['signature']))
P`;
    sh(body);
    expect(sh("sha256sum body")).toContain((await json("anchor.json")).anchorHash);
    sh(`X=${x.toString("base64url")}; ${key}`);
    expect(sh(line("openssl pkeyutl"))).toContain("Signature Verified Successfully");
  });
});

describe("before there is evidence", () => {
  test("the bundle is not ready, and says when to ask again", async () => {
    const slow = await startAppliance({ env: { SIGNET_ANCHOR_INTERVAL_SECONDS: "86400" } });
    try {
      const other = await publishTemplate(slow);
      const { id } = await send(slow, other);
      const waiting = await slow.json(`/v1/envelopes/${id}/evidence`);
      expect(waiting.status).toBe(409);
      expect(waiting.headers.get("retry-after")).toBe("5");
      await slow.json(`/v1/envelopes/${id}/void`, { json: { reason: "no" } });
      expect((await envelopeOf(slow, id)).status).toBe("voided");
      const never = await slow.json(`/v1/envelopes/${id}/evidence`);
      expect(never.status).toBe(409);
      expect(never.headers.get("retry-after")).toBeNull();
    } finally {
      await slow.stop();
    }
  });

  test("anchoring on demand changes nothing when all leaves are covered", async () => {
    const before = await anchorNow(app.deps);
    expect(await anchorNow(app.deps)).toEqual(before);
  });
});

describe("the archive", () => {
  test("keeps names and bytes, and refuses what is damaged", async () => {
    const parts = zipParts([{ name: "a/ü.txt", bytes: Buffer.from("hello") }], "2026-11-21T09:10:00.000Z");
    const bytes = Buffer.concat(parts);
    expect([...(await readZip(bytes, inflate))]).toEqual([["a/ü.txt", Buffer.from("hello")]]);
    for (let cut = 0; cut < bytes.length; cut += 1)
      await expect(readZip(bytes.subarray(0, cut), inflate)).rejects.toThrow();
    const damaged = Buffer.from(bytes);
    damaged[damaged.indexOf("hello")] = 0x48;
    await expect(readZip(damaged, inflate)).rejects.toThrow("damaged");
  });

  test("has no folder but those of its files, and none that carries bytes", async () => {
    const at = "2026-11-21T09:10:00.000Z";
    const empty = new Uint8Array(0);
    const packed = async (...folders: string[]) => {
      const entries = [...files].map(([name, bytes]) => ({ name, bytes }));
      return await readZip(
        Buffer.concat(zipParts([...folders.map((name) => ({ name, bytes: empty })), ...entries], at)),
        inflate,
      );
    };
    expect((await checkBundle(await packed("attachments/"), pins)).verdict).toBe("valid");
    for (const name of ["This document was replaced - see example.com/", "attachments/replaced/", "/"]) {
      const report = await checkBundle(await packed("attachments/", name), pins);
      const wrong = report.steps.filter(({ ok }) => ok === false);
      expect(wrong.map(({ values }) => values.file)).toEqual([name]);
      expect(report.verdict).toBe("invalid");
    }
    const carrying = Buffer.concat(zipParts([{ name: "a/", bytes: Buffer.from("nobody looks at this") }], at));
    // It says that it has none, in both of its heads.
    carrying.writeUInt32LE(0, 22);
    carrying.writeUInt32LE(0, carrying.lastIndexOf("PK\x01\x02") + 24);
    await expect(readZip(carrying, inflate)).rejects.toMatchObject({ fault: "ambiguous" });
  });

  test("is read with folders as Java writes them: deflated, in two bytes that hold nothing", async () => {
    const at = "2026-11-21T09:10:00.000Z";
    const parts = (packed: number[]) => {
      const archive = Buffer.concat(
        zipParts(
          [
            { name: "a/", bytes: Buffer.from(packed) },
            { name: "a/b.txt", bytes: Buffer.from("hello") },
          ],
          at,
        ),
      );
      const listed = archive.indexOf("PK\x01\x02");
      for (const [method, sum, size] of [
        [8, 14, 22],
        [listed + 10, listed + 16, listed + 24],
      ] as const) {
        archive.writeUInt16LE(8, method);
        archive.writeUInt32LE(0, sum);
        archive.writeUInt32LE(0, size);
      }
      return archive;
    };
    expect([...(await readZip(parts([3, 0]), inflate))]).toEqual([["a/b.txt", Buffer.from("hello")]]);
    await expect(readZip(parts([3, 1]), inflate)).rejects.toMatchObject({ fault: "ambiguous" });
  });

  test("is read when another program packed it anew, with its folders", async () => {
    const place = path.join(folder, "again");
    execFileSync("python3", [
      "-c",
      "import zipfile,sys\nz=zipfile.ZipFile(sys.argv[1]);o=zipfile.ZipFile(sys.argv[2],'w',zipfile.ZIP_DEFLATED)\no.mkdir('attachments')\nfor n in z.namelist(): o.writestr(n,z.read(n))\no.close()",
      path.join(folder, "evidence.zip"),
      `${place}.zip`,
    ]);
    expect((await checkBundle(await readZip(await readFile(`${place}.zip`), inflate), pins)).verdict).toBe("valid");
  });
});
