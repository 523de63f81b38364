/** The seal as a task: its timestamp comes from the built-in authority, or from an outside one and is verified here. */
import { createHash, hash } from "node:crypto";
import type { SealPorts, SealTimestamp, TaskPorts, TaskResult, Tasks, TimestampSource } from "../protocol.ts";
import { parseCertificate, subjectOf, validAt } from "./certificate.ts";
import { DerError } from "./der.ts";
import { notValid, seal } from "./seal.ts";
import { issueTimestamp, openTimestampResponse, timestampRequest } from "./timestamp.ts";
import { verifyTimestamp } from "./timestamp-verify.ts";
import type { VerifyTrust } from "./verify.ts";

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
  const sealPorts: SealPorts = {
    sign: ports.sign,
    async timestamp(imprint) {
      if (!input.timestamp) throw new TypeError("a seal of level B-T needs a source of time");
      const got = await tokenFrom(input.timestamp, imprint, input.at, ports);
      timestamp = got.timestamp;
      return got.token;
    },
  };
  try {
    const result = await seal(input, sealPorts);
    if (!result.ok) return result;
    const { tail, verify } = result.value;
    const { problems } = verify(trustOf(input, timestamp));
    if (problems.length === 0) return { ok: true, value: { tail, timestamp } };
    return {
      ok: false,
      error: { code: "seal-invalid", message: `the new seal does not hold: ${problems.join(", ")}` },
    };
  } catch (error) {
    if (error instanceof TimestampRefused)
      return { ok: false, error: { code: "timestamp-refused", message: error.message } };
    if (error instanceof AuthorityInvalid)
      return { ok: false, error: { code: "bad-certificate", message: error.message } };
    throw error;
  }
}

/** The seal's own root, and what the timestamp's chain ended in. */
function trustOf({ certificates, timestamp, at }: Tasks["seal"]["input"], got: SealTimestamp | null): VerifyTrust {
  const roots = timestamp?.kind === "request" ? timestamp.trusted : (timestamp?.certificates.slice(-1) ?? []);
  return {
    trusted: certificates.slice(-1),
    trustedTimestamp: roots.filter((der) => hash("sha256", der, "hex") === got?.anchorSha256),
    at,
  };
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
    sign: ports.signTimestamp,
  });
  const [own] = certificates;
  return {
    token,
    timestamp: { at, authority: own ? subjectOf(own) : null, anchorSha256: certificates.at(-1)?.sha256 ?? null },
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
    // The imprint that was asked for is SHA-256; one over anything else has another length and does not match.
    digest: (algorithm) => (algorithm === "sha256" ? imprint : createHash(algorithm).digest()),
    nonce,
    trusted: source.trusted,
  });
  if (report.problems.length > 0)
    throw new TimestampRefused(`the timestamp does not hold: ${report.problems.join(", ")}`);
  if (report.at === null || Math.abs(Date.parse(report.at) - Date.parse(at)) > source.tolerance * 1000) {
    throw new TimestampRefused(`the authority says that it is ${report.at}, here it is ${at}`);
  }
  return { token, timestamp: { at: report.at, authority: report.authority, anchorSha256: report.anchorSha256 } };
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
