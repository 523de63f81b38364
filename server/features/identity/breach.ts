import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Deps } from "../../kernel/deps.ts";
import { invalid } from "../../kernel/errors.ts";
import { passwordLength } from "./contract.ts";

/** Whether a new password is known from a breach (specification, Dashboard sign-in): the look-up learns five characters of its SHA-1. */

const timeoutMs = 2000;
/** A range has some 1000 lines, padded ones more; this is ten times as much. */
const mostBytes = 1024 * 1024;

/**
 * The rule for every new password.
 * @throws AppError `validation-failed` when its length is wrong or it is known from a breach
 */
export async function checkNewPassword(
  deps: Pick<Deps, "config" | "outbound" | "log">,
  password: string,
  pointer = "#/password",
): Promise<void> {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max) {
    const code = password.length < min ? "min" : "max";
    throw invalid([{ pointer, code, detail: `A password has ${min} to ${max} characters.` }]);
  }
  if (!(await isBreached(deps, password))) return;
  const detail =
    "This password is known from a data breach, so attackers try it first. Choose another one, best of several unrelated words.";
  throw invalid([{ pointer, code: "pattern", detail }]);
}

async function isBreached(deps: Pick<Deps, "config" | "outbound" | "log">, password: string): Promise<boolean> {
  const { breachDir, breachUrl } = deps.config;
  if (breachDir === undefined && breachUrl === undefined) return false;
  const sha1 = createHash("sha1").update(password.normalize("NFKC")).digest("hex").toUpperCase();
  const prefix = sha1.slice(0, 5);
  const suffix = sha1.slice(5);
  const end = AbortSignal.timeout(timeoutMs);
  const late = new Promise<null>((resolve) => end.addEventListener("abort", () => resolve(null), { once: true }));
  try {
    const found = await Promise.race([lookUp(deps, prefix, suffix, end), late]);
    if (found === null) deps.log.info("the look-up of breached passwords took too long: accepted unchecked");
    return found === true;
  } catch (error) {
    // The message of a failed call or file names neither URL nor prefix.
    const reason = error instanceof Error ? error.name : "unknown";
    deps.log.info({ reason }, "breached passwords could not be looked up: accepted unchecked");
    return false;
  }
}

async function lookUp(
  { config, outbound }: Pick<Deps, "config" | "outbound">,
  prefix: string,
  suffix: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (config.breachDir !== undefined && (await folderHolds(config.breachDir, prefix, suffix, signal))) return true;
  if (config.breachUrl === undefined) return false;
  const answer = await outbound.fetch("breach", `${config.breachUrl.replace(/\/+$/, "")}/${prefix}`, {
    method: "GET",
    // Padded, the answer's length tells nobody which range it is.
    headers: { "add-padding": "true", accept: "text/plain", "user-agent": "Signet" },
    timeoutMs,
    maxBytes: mostBytes,
  });
  if (answer.status !== 200) throw new Error("the look-up answered with an error");
  return await holds(Readable.from([answer.body]), suffix);
}

async function folderHolds(folder: string, prefix: string, suffix: string, signal: AbortSignal): Promise<boolean> {
  for (const name of [prefix, `${prefix}.txt`]) {
    try {
      const file = createReadStream(path.join(folder, name), { end: mostBytes, signal });
      if (await holds(file, suffix)) return true;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    }
  }
  return false;
}

/** Lines are `SUFFIX:COUNT`; a count of zero is padding. */
async function holds(input: Readable, suffix: string): Promise<boolean> {
  const failed = new Promise<never>((_, reject) => input.once("error", reject));
  failed.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const read = async () => {
    for await (const line of lines) {
      const [hash, count] = line.trim().split(":");
      if (hash?.toUpperCase() === suffix) return Number(count) > 0;
    }
    return false;
  };
  try {
    return await Promise.race([read(), failed]);
  } finally {
    lines.close();
    input.destroy();
  }
}
