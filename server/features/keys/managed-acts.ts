import type { z } from "zod";
import type { Deps } from "../../kernel/deps.ts";
import type { Actor } from "../../kernel/wire.ts";
import type { OperatorAction } from "../operators/contract.ts";
import { recordOperatorAct } from "../operators/service.ts";
import { rotateAuthority } from "./authority.ts";
import {
  generateKey,
  importPkcs12,
  installCertificate,
  type KeyInfo,
  rotateKey,
  signingRequest,
  testSign,
} from "./ceremony.ts";
import type { KeyUse } from "./kinds.ts";
import type { generateManagedKey, KeyRecords, rotateManagedAuthority, rotateManagedKey } from "./managed-contract.ts";
import type { RecordBody } from "./record-schema.ts";
import { checkRecords, listRecords } from "./records.ts";
import type { KeyDeps } from "./signers.ts";
import { usable } from "./unavailable.ts";

/** What an operator does with the keys: each act stands in its signed record and in the operators' audit, in one transaction. */

const actions: Readonly<Partial<Record<RecordBody["act"], OperatorAction>>> = {
  generate: "keys.generated",
  "import-p12": "keys.imported",
  "install-cert": "keys.certificate_installed",
  rotate: "keys.rotated",
};

/**
 * @returns what the act gives, and the number of its record
 * @throws AppError; `service-unavailable` with the cause while a key cannot be used
 */
async function act<T>(
  deps: Deps,
  actor: Actor,
  work: (deps: KeyDeps) => Promise<T>,
): Promise<{ done: T; record: number }> {
  let record = 0;
  const noted: KeyDeps["noted"] = async (tx, { act: name, seq, keys }) => {
    record = seq;
    const action = actions[name];
    // What the installation does by itself on the way is no act of the operator.
    if (action === undefined) return;
    const data = { record: seq, keys: keys.map(({ id }) => id) };
    await recordOperatorAct(tx, deps, { actor, action, target: keys.at(-1)?.id ?? null, data });
  };
  const done = await usable(work({ ...deps, noted }));
  return { done, record };
}

type By = { by?: string | undefined };
/** Who is named in the record: who says so, or whose account calls. */
const nameOf = (actor: Actor, by: string | undefined) => by ?? actor.name ?? undefined;

type Generate = z.output<(typeof generateManagedKey)["body"]["schema"]>;

/** @throws AppError */
export async function generateManaged(
  deps: Deps,
  actor: Actor,
  about: Generate,
): Promise<{ key: KeyInfo; record: number }> {
  const { done: key, record } = await act(deps, actor, (own) =>
    generateKey(own, { ...about, by: nameOf(actor, about.by) }),
  );
  return { key, record };
}

/** @throws AppError */
export async function importManaged(
  deps: Deps,
  actor: Actor,
  { file, password, by }: { file: Uint8Array; password: string } & By,
): Promise<{ key: KeyInfo; record: number }> {
  const { done: key, record } = await act(deps, actor, (own) => importPkcs12(own, file, password, nameOf(actor, by)));
  return { key, record };
}

/** @throws AppError */
export async function installManaged(
  deps: Deps,
  actor: Actor,
  { file, by }: { file: Uint8Array } & By,
): Promise<{ key: KeyInfo; record: number }> {
  const { done: key, record } = await act(deps, actor, (own) => installCertificate(own, file, nameOf(actor, by)));
  return { key, record };
}

type Rotate = z.output<(typeof rotateManagedKey)["body"]["schema"]>;

/** @throws AppError */
export async function rotateManaged(deps: Deps, actor: Actor, about: Rotate) {
  const { use, key, fresh } = about;
  const made = fresh && { ...(fresh.kind && { kind: fresh.kind }), ...(fresh.storage && { storage: fresh.storage }) };
  const { done, record } = await act(deps, actor, (own) =>
    rotateKey(own, { use, key, fresh: made, by: nameOf(actor, about.by) }),
  );
  return { ...done, record };
}

/** @throws AppError */
export async function rotateManagedCa(
  deps: Deps,
  actor: Actor,
  { by }: z.output<(typeof rotateManagedAuthority)["body"]["schema"]>,
) {
  const { done, record } = await act(deps, actor, (own) => rotateAuthority(own, nameOf(actor, by)));
  return { ...done, record };
}

/** @throws AppError */
export async function requestManaged(
  deps: Deps,
  actor: Actor,
  about: { key: string; organization: string; commonName: string },
): Promise<{ request: string }> {
  const request = await usable(signingRequest(deps, about));
  const data = { organization: about.organization, commonName: about.commonName };
  await deps.db.tx((tx) =>
    recordOperatorAct(tx, deps, { actor, action: "keys.certificate_requested", target: about.key, data }),
  );
  return { request };
}

/** @throws AppError */
export async function proveManaged(
  deps: Deps,
  actor: Actor,
  about: { key?: string | undefined; use?: KeyUse | undefined },
): Promise<(KeyInfo & { milliseconds: number })[]> {
  const proofs = await usable(testSign(deps, about));
  const data = { keys: proofs.map(({ id }) => id) };
  await deps.db.tx((tx) => recordOperatorAct(tx, deps, { actor, action: "keys.test_signed", data }));
  return proofs;
}

export async function readRecords({ db }: Pick<Deps, "db">): Promise<z.infer<typeof KeyRecords>> {
  return { data: await listRecords(db.read), problems: await checkRecords(db.read) };
}
