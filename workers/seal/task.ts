/** The seal as a task: its timestamps come from the built-in authority, or from an outside one and are verified here. */
import { hash, type KeyObject, sign } from "node:crypto";
import type {
  LongTermPorts,
  SealPorts,
  SealTimestamp,
  TaskPorts,
  TaskResult,
  Tasks,
  TimestampSource,
} from "../protocol.ts";
import { parseCertificate, subjectOf, validAt } from "./certificate.ts";
import { DerError } from "./der.ts";
import { extend } from "./extend.ts";
import { Unavailable } from "./long-term.ts";
import { notValid, seal } from "./seal.ts";
import { issueTimestamp, openTimestampResponse, timestampRequest } from "./timestamp.ts";
import { verifyTimestamp } from "./timestamp-verify.ts";

/** The outside authority gave nothing that may stand in a seal; inside this file it travels as an exception. */
class TimestampRefused extends Error {}
/** The built-in authority's certificate has run out, or does not hold yet. */
class AuthorityInvalid extends Error {}

/**
 * Appends the signature, and verifies it as anybody would before handing it out. What `sign`, `signTimestamp` and
 * `timestampTime` throw passes through untouched.
 */
export async function sealTask(input: Tasks["seal"]["input"], ports: TaskPorts): Promise<TaskResult<"seal">> {
  let timestamp: SealTimestamp | null = null;
  const archive = archivePorts(input.archive, input.at, ports);
  const sealPorts: SealPorts = {
    sign: signerFor(input.privateKey, ports.sign),
    async timestamp(imprint) {
      if (!input.timestamp) throw new TypeError("a seal of level B-T needs a source of time");
      const got = await tokenFrom(input.timestamp, imprint, input.at, ports);
      timestamp = got.timestamp;
      return got.token;
    },
    timestampRoots: () => rootsOf(input.timestamp, timestamp),
    ...archive.ports,
  };
  return await coded(async () => {
    const result = await seal(input, sealPorts);
    if (!result.ok) return result;
    const { tail, level, shortfall, verifyArchive, verifyWhole } = result.value;
    const roots = [...rootsOf(input.timestamp, timestamp), ...rootsOf(input.archive, archive.got())];
    const trust = { trusted: input.certificates.slice(-1), trustedTimestamp: roots, at: input.at };
    const report = verifyWhole(trust);
    if (!report.valid) {
      const counting = report.signatures.filter(({ foreign }) => !foreign);
      const wrong = [...report.problems, ...counting.flatMap(({ problems }) => problems)];
      return invalid(`the new seal does not hold: ${wrong.join(", ")}`);
    }
    const newest = verifyArchive ? archive.got() : null;
    const protectedUntil = newest?.validUntil ?? null;
    return { ok: true, value: { tail, level, shortfall, timestamp, archive: newest, protectedUntil } };
  });
}

/**
 * A key in software signs here: two messages and the waiting for them cost a fifth of a signature, and this thread would
 * rest meanwhile. The handle is for this task alone; its bytes lie outside of what JavaScript reaches, as in the main thread.
 */
function signerFor(privateKey: KeyObject | null | undefined, ask: TaskPorts["sign"]): TaskPorts["sign"] {
  return privateKey ? async (bytes) => sign("sha256", bytes, privateKey) : ask;
}

/** Appends to a sealed file what raises or renews it, and verifies the whole before handing that out. */
export async function extendTask(input: Tasks["extend"]["input"], ports: TaskPorts): Promise<TaskResult<"extend">> {
  const archive = archivePorts(input.archive, input.at, ports);
  return await coded(async () => {
    const result = await extend(input, archive.ports);
    if (!result.ok) return result;
    const { tail, level, shortfall, verify } = result.value;
    const trusted = rootsOf(input.archive, archive.got());
    const problems = verify?.({ trusted, at: input.at }).problems ?? [];
    if (problems.length > 0) return invalid(`the new timestamp does not hold: ${problems.join(", ")}`);
    const newest = verify ? archive.got() : null;
    const protectedUntil = newest?.validUntil ?? result.value.protectedUntil;
    return { ok: true, value: { tail, level, shortfall, archive: newest, protectedUntil } };
  });
}

/** A token of an outside authority, complete and verified. */
export async function timestampTask(
  { imprint, source, at }: Tasks["timestamp"]["input"],
  ports: TaskPorts,
): Promise<TaskResult<"timestamp">> {
  try {
    return { ok: true, value: await requested(source, imprint, at, ports.requestTimestamp) };
  } catch (error) {
    if (!(error instanceof TimestampRefused)) throw error;
    return { ok: false, error: { code: "timestamp-refused", message: error.message } };
  }
}

const invalid = (message: string) => ({ ok: false as const, error: { code: "seal-invalid" as const, message } });

/** What a source of time refuses is a coded failure; anything else is thrown on. */
async function coded<R>(work: () => Promise<R>) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TimestampRefused)
      return { ok: false as const, error: { code: "timestamp-refused" as const, message: error.message } };
    if (error instanceof AuthorityInvalid)
      return { ok: false as const, error: { code: "bad-certificate" as const, message: error.message } };
    throw error;
  }
}

function archivePorts(source: TimestampSource | null, at: string, ports: TaskPorts) {
  let got: SealTimestamp | null = null;
  const own: LongTermPorts = {
    revocationList: (ask) => ports.revocationList(Buffer.from(JSON.stringify(ask), "utf8")),
    async archiveTimestamp(imprint) {
      if (!source) throw new TypeError("level B-LTA needs a source of time for the whole file");
      try {
        const stamped = await tokenFrom(source, imprint, at, ports);
        got = stamped.timestamp;
        return stamped.token;
      } catch (error) {
        if (error instanceof TimestampRefused) throw new Unavailable(`no document timestamp: ${error.message}`);
        throw error;
      }
    },
  };
  return { ports: own, got: (): SealTimestamp | null => got };
}

/** What the chain of a timestamp ended in. */
function rootsOf(source: TimestampSource | null, got: SealTimestamp | null): Uint8Array[] {
  const roots = source?.kind === "request" ? source.trusted : (source?.certificates.slice(-1) ?? []);
  return roots.filter((der) => hash("sha256", der, "hex") === got?.anchorSha256);
}

type Stamped = { token: Uint8Array; timestamp: SealTimestamp };

function tokenFrom(source: TimestampSource, imprint: Uint8Array, at: string, ports: TaskPorts): Promise<Stamped> {
  return source.kind === "built-in"
    ? issued(source, imprint, ports)
    : requested(source, imprint, at, ports.requestTimestamp);
}

async function issued(
  source: Extract<TimestampSource, { kind: "built-in" }>,
  imprint: Uint8Array,
  ports: TaskPorts,
): Promise<Stamped> {
  // Not the time at which the seal was begun: what is stamped did not exist before its signature.
  const at = Buffer.from(await ports.timestampTime(imprint)).toString("ascii");
  const certificates = source.certificates.map(parseCertificate);
  const outside = certificates.find((certificate) => !validAt(certificate, at));
  if (outside) throw new AuthorityInvalid(notValid(outside, at));
  const token = await issueTimestamp({
    imprint,
    nonce: null,
    serial: BigInt(`0x${source.serial}`),
    at,
    policy: source.policy,
    certificates: source.certificates,
    sign: signerFor(source.privateKey, ports.signTimestamp),
  });
  const [own] = certificates;
  return {
    token,
    timestamp: {
      at,
      authority: own ? subjectOf(own) : null,
      anchorSha256: certificates.at(-1)?.sha256 ?? null,
      validUntil: own?.x509.validToDate.toISOString() ?? null,
    },
  };
}

async function requested(
  source: Extract<TimestampSource, { kind: "request" }>,
  imprint: Uint8Array,
  at: string,
  send: TaskPorts["requestTimestamp"],
): Promise<Stamped> {
  const nonce = BigInt(`0x${source.nonce}`);
  const token = await granted(timestampRequest(imprint, nonce), send);
  const report = verifyTimestamp(token, {
    algorithm: "sha256",
    digest: () => imprint,
    nonce,
    trusted: source.trusted,
  });
  if (report.problems.length > 0)
    throw new TimestampRefused(`the timestamp does not hold: ${report.problems.join(", ")}`);
  if (report.at === null || Math.abs(Date.parse(report.at) - Date.parse(at)) > source.tolerance * 1000) {
    throw new TimestampRefused(`the authority says that it is ${report.at}, here it is ${at}`);
  }
  const { authority, anchorSha256, validUntil } = report;
  return { token, timestamp: { at: report.at, authority, anchorSha256, validUntil } };
}

async function granted(request: Uint8Array, send: TaskPorts["requestTimestamp"]): Promise<Uint8Array> {
  try {
    const status = openTimestampResponse(await send(request));
    if (status.granted) return status.token;
    throw new TimestampRefused(
      `the authority refused with status ${status.status}: ${status.text || "no reason given"}`,
    );
  } catch (error) {
    if (error instanceof TimestampRefused) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new TimestampRefused(error instanceof DerError ? `the answer is no timestamp response: ${reason}` : reason);
  }
}
