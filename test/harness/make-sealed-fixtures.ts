import "../../server/node-version.ts";
import { sign } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { SealInput, SealPorts } from "../../workers/protocol.ts";
import { extend } from "../../workers/seal/extend.ts";
import { seal } from "../../workers/seal/seal.ts";
import { makeAuthority } from "./authority.ts";
import { samplePdf, type Variant, variant, whole } from "./pdfs.ts";

/**
 * Seals files as today's program does, to be verified by every later one: `node test/harness/make-sealed-fixtures.ts DATE`. A folder
 * that is there stays as it is for ever; a new way of writing gets a new one.
 */

const folder = path.join(import.meta.dirname, "../fixtures/sealed", process.argv[2] ?? "");
mkdirSync(folder);
const authority = makeAuthority({ ca: "ec-p256", seal: "rsa-3072", timestamp: "ec-p256" });
const second = authority.sealIdentity("P-256", "ec-p256");
const at = new Date(Date.now() + 60_000).toISOString();
const list = authority.revocationList();
const portsOf = (identity: typeof authority.seal): SealPorts => ({
  ...authority.ports(at),
  ...(identity === authority.seal ? {} : { sign: signerOf(identity) }),
  revocationList: async () => list,
});
function signerOf({ key }: typeof authority.seal): SealPorts["sign"] {
  return async (bytes) => sign("sha256", bytes, key);
}

async function sealed(
  pdf: Uint8Array,
  key: SealInput["key"],
  identity: typeof authority.seal,
  level: SealInput["level"],
) {
  const about = { at, name: "Zoë (Acme)", reason: "Completed", location: null, fieldName: "Signet.Seal.1" };
  const pages = await samplePdf({ pages: 1 });
  const result = await seal(
    { ...about, pdf, pages, certificates: identity.certificates, key, level },
    portsOf(identity),
  );
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return whole(pdf, result.value.tail);
}

async function extended(pdf: Uint8Array, renew: boolean) {
  const archive = { kind: "built-in" as const, certificates: [], policy: "", serial: "" };
  const given = { pdf, trusted: [authority.ca], goal: "B-LTA" as const, renew, archive, at };
  const result = await extend(given, portsOf(authority.seal));
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.tail === null ? pdf : whole(pdf, result.value.tail);
}

const write = (name: string, bytes: Uint8Array) => writeFileSync(path.join(folder, name), bytes);
write("authority.der", authority.ca);
for (const kind of ["table", "stream", "linearized", "hybrid"] as const satisfies readonly Variant[]) {
  const base = await variant(kind, { pages: 2 });
  write(`rsa-3072-${kind}-B-LTA.pdf`, await sealed(base, "rsa", authority.seal, "B-LTA"));
}
const small = await samplePdf({ form: true, objectStreams: true });
const stamped = await sealed(small, "ec-p256", second, "B-T");
write("p-256-B-T.pdf", stamped);
const raised = await extended(stamped, false);
write("p-256-raised-B-LTA.pdf", raised);
write("p-256-renewed-B-LTA.pdf", await extended(raised, true));
authority.close();
