import type { Migration } from "../kernel/schema.ts";
import * as kernel from "./0001-kernel.ts";
import * as identity from "./0002-identity.ts";
import * as templates from "./0003-templates.ts";
import * as envelopes from "./0004-envelopes.ts";
import * as signing from "./0005-signing.ts";
import * as evidence from "./0006-evidence.ts";
import * as mail from "./0007-mail.ts";
import * as keys from "./0008-keys.ts";
import * as appendOnly from "./0009-append-only.ts";
import * as masterKey from "./0010-master-key.ts";

/** Every step of the schema in its order. Named one by one, so that a bundle holds them all; a step that was released never changes. */
export const migrations: readonly Migration[] = [
  { name: "0001-kernel", up: kernel.up },
  { name: "0002-identity", up: identity.up },
  { name: "0003-templates", up: templates.up },
  { name: "0004-envelopes", up: envelopes.up },
  { name: "0005-signing", up: signing.up },
  { name: "0006-evidence", up: evidence.up },
  { name: "0007-mail", up: mail.up },
  { name: "0008-keys", up: keys.up },
  { name: "0009-append-only", up: appendOnly.up },
  { name: "0010-master-key", up: masterKey.up },
];
