/**
 * Every level of seal by every kind of key on every kind of file, before judges that share no code with us and before our
 * own two verifiers. Here each pair of values occurs; `npm run test:long` (SIGNET_TEST_FULL) runs the whole product.
 */
import { execFile } from "node:child_process";
import { sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judgeSealedPdf } from "../../../server/commands/demo/judges.ts";
import { openToken } from "../../../server/features/keys/pkcs11/token.ts";
import type { SealInput, SealLevel, SealPorts } from "../../../workers/protocol.ts";
import { seal } from "../../../workers/seal/seal.ts";
import { verifySealedPdf } from "../../../workers/seal/verify.ts";
import { type Authority, makeAuthority } from "../../harness/authority.ts";
import { type Variant, variant, whole } from "../../harness/pdfs.ts";
import { makeToken, type SoftToken, softhsmModule } from "../../harness/softhsm.ts";

const levels = ["B-B", "B-T", "B-LT", "B-LTA"] as const;
const keys = ["RSA-3072", "RSA-4096", "P-256", "SoftHSM RSA-3072", "SoftHSM P-256"] as const;
const kinds = ["table", "stream", "linearized", "linearized-stream", "hybrid", "signed"] as const;
const pageCounts = [1, 500] as const;
type Row = [SealLevel, (typeof keys)[number], (typeof kinds)[number], (typeof pageCounts)[number]];

const product = levels.flatMap((level) =>
  keys.flatMap((key) => kinds.flatMap((kind) => pageCounts.map((pages): Row => [level, key, kind, pages]))),
);
/** Of each kind of file with each kind of key one row: level and length go on by one step with either. */
const pairwise = product.filter(([level, key, kind, pages]) => {
  const step = kinds.indexOf(kind) + keys.indexOf(key);
  return levels[step % 4] === level && pageCounts[Math.floor(step / 4) % 2] === pages;
});
const rows = process.env.SIGNET_TEST_FULL === "1" ? product : pairwise;

test("each pair of values occurs", () => {
  const pairs = (given: readonly Row[]) =>
    new Set(
      given.flatMap((row) =>
        row.flatMap((one, index) => row.slice(index + 1).map((other) => `${index} ${one} + ${other}`)),
      ),
    );
  expect(product).toHaveLength(240);
  expect(pairwise).toHaveLength(30);
  expect(pairs(pairwise)).toEqual(pairs(product));
});

// Behind the beginning of the certificates that are about to be made.
const at = new Date(Date.now() + 3_600_000).toISOString();
type Signer = { kind: SealInput["key"]; certificates: Uint8Array[]; sign: SealPorts["sign"] };

let folder: string;
let authority: Authority;
/** Whoever signed a file before it came here. */
let stranger: Authority;
let token: SoftToken;
let roots: string;
let ports: SealPorts;
const signers = new Map<string, Signer>();
const files = new Map<string, Uint8Array>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signet-table-"));
  authority = makeAuthority({ ca: "rsa-3072", seal: "rsa-3072", timestamp: "ec-p256" });
  stranger = makeAuthority({ seal: "ec-p256", name: "Stranger" });
  token = makeToken();
  roots = join(folder, "roots.pem");
  writeFileSync(roots, readFileSync(authority.caPem, "utf8") + readFileSync(stranger.caPem, "utf8"));
  const list = authority.revocationList();
  ports = { ...authority.ports(at), revocationList: async () => list };

  const soft = (kind: SealInput["key"], { key, certificates }: Authority["seal"]): Signer => {
    return { kind, certificates, sign: async (attributes) => sign("sha256", attributes, key) };
  };
  const pins = { fingerprint: () => "", refused: async () => undefined, remember: async () => {} };
  const opened = openToken({ module: softhsmModule, label: "signet", pinFile: token.pinFile }, pins);
  const hard = async (kind: "rsa-3072" | "ec-p256"): Promise<Signer> => {
    const { keyId, publicKey } = await opened.generate(kind, `Seal ${kind}`);
    const certificates = authority.certifySealKey(`HSM ${kind}`, publicKey);
    return {
      kind: kind === "ec-p256" ? kind : "rsa",
      certificates,
      sign: (attributes) => opened.sign(keyId, kind, attributes),
    };
  };
  signers.set("RSA-3072", soft("rsa", authority.seal));
  signers.set("RSA-4096", soft("rsa", authority.sealIdentity("Large", "rsa-4096")));
  signers.set("P-256", soft("ec-p256", authority.sealIdentity("Curve", "ec-p256")));
  signers.set("SoftHSM RSA-3072", await hard("rsa-3072"));
  signers.set("SoftHSM P-256", await hard("ec-p256"));
}, 120_000);
afterAll(() => {
  authority.close();
  stranger.close();
  token.close();
  rmSync(folder, { recursive: true, force: true });
});

async function fileOf(kind: Row[2], pages: number): Promise<Uint8Array> {
  const known = files.get(`${kind} ${pages}`);
  if (known) return known;
  const made = kind === "signed" ? await signedBefore(pages) : await variant(kind satisfies Variant, { pages });
  files.set(`${kind} ${pages}`, made);
  return made;
}

async function signedBefore(pages: number): Promise<Uint8Array> {
  const pdf = await variant("table", { pages });
  const about = { at, name: "Stranger", reason: "Agreed", location: null, fieldName: "Before", level: "B-T" } as const;
  const given = { ...about, pdf, pages: null, key: "ec-p256", certificates: stranger.seal.certificates } as const;
  const result = await seal(given, stranger.ports(at));
  if (!result.ok) throw new Error(result.error.message);
  return whole(pdf, result.value.tail);
}

/** What a judge must object to: revisions behind a signature that it does not cover, and nothing else. */
function objections(level: SealLevel, kind: Row[2]): string[] {
  // What stands behind the signature of B-LT is signed by nobody: that is what the level says.
  const unsigned = level === "B-LT" ? ["pdfsig: no signature covers the whole file"] : [];
  // It says so of every signature but the newest; a document timestamp it does not know, which excuses that.
  const edited = level === "B-LT" || (kind === "signed" && level !== "B-LTA");
  return [...unsigned, ...(edited ? ["mutool: there have been edits since signing"] : [])];
}

async function objectionsTo(file: string): Promise<string[]> {
  const verdicts = await judgeSealedPdf(file, roots);
  return verdicts
    .filter(({ ok }) => !ok)
    .map(({ judge, detail }) => `${judge}: ${detail.replace(/^.*(there have been edits since signing).*$/, "$1")}`);
}

describe("no judge finds anything wrong", () => {
  test.each(rows)("%s, %s, %s, %i pages", { timeout: 120_000 }, async (level, key, kind, pages) => {
    const base = await fileOf(kind, pages);
    const signer = signers.get(key);
    if (!signer) throw new Error("no such key");
    const about = { at, name: "Acme", reason: "Completed", location: null, fieldName: "Seal", level };
    const given = { ...about, pdf: base, pages: null, key: signer.kind, certificates: signer.certificates };
    const result = await seal(given, { ...ports, sign: signer.sign });
    if (!result.ok) throw new Error(result.error.message);
    expect(result.value).toMatchObject({ level, shortfall: null });
    const pdf = Buffer.from(whole(base, result.value.tail));
    const file = join(folder, "judged.pdf");
    writeFileSync(file, pdf);

    const shown = promisify(execFile)("mutool", ["show", file, "trailer/Root/DSS", "trailer/Root/Extensions"]);
    const [found, { stdout: store }] = await Promise.all([objectionsTo(file), shown]);
    expect(found).toEqual(objections(level, kind));
    const lasting = level === "B-LT" || level === "B-LTA";
    const entries = [/\/Certs \[/, /\/CRLs \[/, /\/ESIC/];
    expect(entries.map((entry) => entry.test(store))).toEqual([lasting, lasting, lasting]);

    const report = verifySealedPdf(pdf, { trusted: [authority.ca], at });
    expect(report).toMatchObject({ valid: true, problems: [], level });
    const own = level === "B-LTA" ? ["seal", "document-timestamp"] : ["seal"];
    const later = lasting ? ["validation-data", ...own.slice(1)] : [];
    expect(report.signatures.find(({ foreign }) => !foreign)).toMatchObject({ name: "Acme", level, later });
    const years = (Date.parse(report.protectedUntil ?? "") - Date.now()) / (365 * 86_400_000);
    if (level === "B-B") expect(report.protectedUntil).toBeNull();
    else expect(years).toBeGreaterThan(9);
    const before = kind === "signed" ? ["seal"] : [];
    expect(report.signatures.map((one) => one.kind)).toEqual([...before, ...own]);
    const covering = report.signatures.findLast(({ coversWholeFile }) => coversWholeFile);
    expect(covering?.kind).toBe(level === "B-LT" ? undefined : own.at(-1));
  });
});
