import type { Deps } from "../../kernel/deps.ts";
import { invalid, notFound } from "../../kernel/errors.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { SignatureInput, signatureMethods } from "./contract.ts";
import { checkPicture } from "./pictures.ts";
import { readSignature } from "./signatures.ts";
import * as store from "./store.ts";

/** A member's saved signature. It is encrypted at rest, and nobody but its owner can read it. */

const contextOf = (user: string) => `saved_signatures.content:${user}`;

/** @throws AppError `not-found` */
export async function savedSignature(deps: Deps, user: string): Promise<SignatureInput> {
  const row = await store.findSavedSignature(deps.db.read, user);
  if (row === undefined) throw notFound("The saved signature");
  return SignatureInput.parse(JSON.parse(deps.secrets.open(row.content, contextOf(user)).toString()));
}

/** @throws AppError `validation-failed` for a picture that could not be drawn */
export async function saveSignature(
  deps: Deps,
  user: string,
  input: SignatureInput,
  { signal }: Pick<RequestInfo, "signal">,
): Promise<SignatureInput> {
  const read = await readSignature(input, "signature", {
    methods: signatureMethods,
    readPicture: (picture, limit) => checkPicture(deps, picture, limit, signal),
  });
  if ("code" in read) throw invalid([{ pointer: "#/image", code: read.code, detail: read.detail }]);
  const content = deps.secrets.seal(JSON.stringify(input), contextOf(user));
  await deps.db.tx((tx) => store.putSavedSignature(tx, { user, content, saved_at: deps.clock.ts() }));
  return input;
}

export async function deleteSavedSignature(deps: Deps, user: string): Promise<void> {
  await deps.db.tx((tx) => store.deleteSavedSignature(tx, user));
}
