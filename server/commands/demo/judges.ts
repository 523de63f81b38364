/**
 * Independent judges of a sealed PDF: qpdf, poppler's pdfsig with NSS, mutool and openssl. None shares code with us, and
 * several of them exit 0 on a broken file, so that what they print is read.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Verdict = {
  judge: string;
  ok: boolean;
  /** The tool is not installed; `ok` is false then. */
  skipped: boolean;
  detail: string;
};

type Run = { code: number; out: string; missing: boolean };

function run(command: string, ...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const missing = error?.code === "ENOENT";
      resolve({
        code: error ? (typeof error.code === "number" ? error.code : 1) : 0,
        out: `${stdout}${stderr}`,
        missing,
      });
    });
  });
}

function verdict(judge: string, result: Run, ok: boolean, detail: string): Verdict {
  return {
    judge,
    ok: ok && !result.missing,
    skipped: result.missing,
    detail: result.missing ? "not installed" : detail,
  };
}

/** The last line that says something. */
const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";

/**
 * Asks every judge about the sealed PDF at `file`; `caPem` is the path of the CA certificate(s) for seal and timestamps.
 * All is well when every verdict is `ok`.
 */
export async function judgeSealedPdf(file: string, caPem: string): Promise<Verdict[]> {
  const folder = await mkdtemp(join(tmpdir(), "signet-judge-"));
  try {
    const { verdict: pdfsig, signatures } = await judgePdfsig(file, caPem, folder);
    const stamped = signatures.at(-1)?.kind === timestampKind;
    const verdicts = [await judgeQpdf(file), pdfsig, await judgeMutool(file, stamped)];
    const bytes = await readFile(file);
    for (const [index, signature] of signatures.entries()) {
      verdicts.push(...(await judgeSignature(bytes, signature, caPem, folder, `signature ${index + 1}`)));
    }
    return verdicts;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function judgeQpdf(file: string): Promise<Verdict> {
  const result = await run("qpdf", "--check", file);
  const clean = "no syntax or stream encoding errors";
  return verdict("qpdf", result, result.code === 0, result.code === 0 ? clean : lastLine(result.out));
}

const timestampKind = "ETSI.RFC3161";

export type SignedRange = { kind: string; length: number; resume: number; end: number };

/** Poppler's view: each signature valid and trusted, the last one reaching the end of the file. */
export async function judgePdfsig(
  file: string,
  caPem: string,
  folder: string,
): Promise<{ verdict: Verdict; signatures: SignedRange[] }> {
  const database = `sql:${folder}`;
  await run("certutil", "-N", "-d", database, "--empty-password");
  const added = await trustIn(database, caPem, folder);
  const result = await run("pdfsig", "-nssdir", database, file);
  const signatures: SignedRange[] = [];
  const problems: string[] = added.missing ? ["certutil is not installed"] : [];
  for (const block of result.out.split(/^Signature #/m).slice(1)) {
    const ranges = /Signed Ranges: \[0 - (\d+)\], \[(\d+) - (\d+)\]/.exec(block);
    const named = /Signature Type: (\S+)/.exec(block)?.[1] ?? "";
    // The one kind that it does not know; what is none either fails before openssl ts.
    const kind = named === "unknown" ? timestampKind : named;
    if (ranges) signatures.push({ kind, length: Number(ranges[1]), resume: Number(ranges[2]), end: Number(ranges[3]) });
    // It does not verify document timestamps: openssl ts does below.
    if (kind === timestampKind) continue;
    if (!block.includes("Signature is Valid."))
      problems.push(/Signature Validation: (.*)/.exec(block)?.[1] ?? "invalid");
    if (!block.includes("Certificate is Trusted.")) {
      problems.push(/Certificate Validation: (.*)/.exec(block)?.[1] ?? "untrusted");
    }
  }
  const size = result.missing ? 0 : (await readFile(file)).length;
  if (signatures.length === 0) problems.push("no signature");
  else if (!signatures.some(({ end }) => end === size) || !result.out.includes("- Total document signed")) {
    problems.push("no signature covers the whole file");
  }
  const detail = problems.length > 0 ? problems.join("; ") : `${signatures.length} valid and trusted, to the last byte`;
  return { verdict: verdict("pdfsig", result, problems.length === 0, detail), signatures };
}

/** It takes one certificate at a time. */
async function trustIn(database: string, caPem: string, folder: string): Promise<Run> {
  const pems =
    (await readFile(caPem, "utf8")).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  let last: Run = { code: 0, out: "", missing: false };
  for (const [index, pem] of pems.entries()) {
    const file = join(folder, `root-${index}.pem`);
    await writeFile(file, `${pem}\n`);
    last = await run("certutil", "-A", "-d", database, "-n", `root ${index}`, "-t", "C,C,C", "-i", file);
  }
  return last;
}

/** @param stamped a document timestamp covers what came behind the signature, which mutool cannot judge by itself */
export async function judgeMutool(file: string, stamped = false): Promise<Verdict> {
  const result = await run("mutool", "sign", "-v", file);
  const lines = result.out.split("\n").map((line) => line.trim());
  const behind = "The signature is valid but there have been edits since signing.";
  const wrong = lines.find(
    (line) =>
      !(stamped && line === behind) &&
      /digest error|there have been edits|error:.*sign/i.test(line) &&
      !/^Certificate error/.test(line),
  );
  // Our CA is not in the system's store, which it reports as certificate error: pdfsig and openssl judge the chain.
  const unchanged = lines.find(
    (line) => line === "The document is unchanged since signing." || (stamped && line === behind),
  );
  return verdict("mutool", result, !wrong && unchanged !== undefined, wrong ?? unchanged ?? lastLine(result.out));
}

/** openssl on one signature: CMS with CAdES rules, attributes present and absent, timestamp token. */
async function judgeSignature(
  bytes: Buffer,
  { kind, length, resume, end }: SignedRange,
  caPem: string,
  folder: string,
  label: string,
): Promise<Verdict[]> {
  const path = (name: string): string => join(folder, name);
  const covered = Buffer.concat([bytes.subarray(0, length), bytes.subarray(resume, end)]);
  const der = Buffer.from(bytes.subarray(length + 1, resume - 1).toString("latin1"), "hex");
  await Promise.all([writeFile(path("b.bin"), covered), writeFile(path("c.der"), der)]);
  if (kind === timestampKind) {
    const args = ["-in", path("c.der"), "-data", path("b.bin"), "-CAfile", caPem];
    const stamp = await run("openssl", "ts", "-verify", "-token_in", ...args);
    const ok = stamp.code === 0 && stamp.out.includes("Verification: OK");
    return [verdict(`openssl ts (${label})`, stamp, ok, lastLine(stamp.out.replace(/^Using configuration.*$/m, "")))];
  }
  const input = ["-binary", "-inform", "DER", "-in", path("c.der"), "-content", path("b.bin")];
  const trust = ["-CAfile", caPem, "-purpose", "any", "-out", path("null")];
  const cms = await run("openssl", "cms", "-verify", "-cades", ...input, ...trust);
  const print = await run("openssl", "cms", "-cmsout", "-print", "-inform", "DER", "-in", path("c.der"));
  const missing = print.out.includes("signingCertificateV2") ? "" : "no signing-certificate-v2";
  const present = print.out.includes("object: signingTime") ? "signing-time present" : "";
  const wrong = [missing, present].filter((text) => text !== "").join("; ");
  const cmsOk = cms.code === 0 && /Verification successful|CAdES Verification successful/i.test(cms.out);
  const verdicts = [
    verdict(`openssl cms -cades (${label})`, cms, cmsOk, lastLine(cms.out)),
    verdict(
      `openssl cms attributes (${label})`,
      print,
      wrong === "",
      wrong || "signing-certificate-v2, no signing-time",
    ),
  ];
  const token = await judgeSignatureTimestamp(der, caPem, folder, label);
  return token ? [...verdicts, token] : verdicts;
}

/** The signature timestamp, cut out by openssl's own account of the structure; null when there is none. */
async function judgeSignatureTimestamp(
  der: Buffer,
  caPem: string,
  folder: string,
  label: string,
): Promise<Verdict | null> {
  const parsed = await run("openssl", "asn1parse", "-inform", "DER", "-in", join(folder, "c.der"));
  const lines = parsed.out.split("\n");
  const slice = (line: string | undefined): { header: number; start: number; end: number } | null => {
    const match = /^\s*(\d+):d=\d+\s+hl=(\d+)\s+l=\s*(\d+)/.exec(line ?? "");
    if (!match) return null;
    const [start, header, length] = [Number(match[1]), Number(match[2]), Number(match[3])];
    return { header: start, start: start + header, end: start + header + length };
  };
  const at = lines.findIndex((line) => line.includes("id-smime-aa-timeStampToken"));
  if (at < 0) return null;
  const token = slice(lines[at + 2]);
  const signature = slice(lines.slice(0, at).findLast((line) => /:d=5 .*prim: OCTET STRING/.test(line)));
  if (!token || !signature)
    return { judge: `openssl ts (${label})`, ok: false, skipped: false, detail: "no token found" };
  const digest = createHash("sha256").update(der.subarray(signature.start, signature.end)).digest("hex");
  const file = join(folder, "t.der");
  await writeFile(file, der.subarray(token.header, token.end));
  const stamp = await run("openssl", "ts", "-verify", "-token_in", "-in", file, "-digest", digest, "-CAfile", caPem);
  const ok = stamp.code === 0 && stamp.out.includes("Verification: OK");
  return verdict(`openssl ts (${label})`, stamp, ok, lastLine(stamp.out.replace(/^Using configuration.*$/m, "")));
}
