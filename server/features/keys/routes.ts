import { bind } from "../../kernel/binding.ts";
import * as contract from "./contract.ts";
import { authorities, ensureKeys, publicAnchorKeys } from "./service.ts";

export const bindings = [
  bind(contract.getAnchorKeys)({
    async handle(deps) {
      await ensureKeys(deps);
      return { status: 200, body: { keys: await publicAnchorKeys(deps.db.read) } };
    },
  }),
  bind(contract.getCertificates)({
    async handle(deps) {
      await ensureKeys(deps);
      const { seals } = await authorities(deps.db.read);
      return { status: 200, bytes: Buffer.from(seals.join(""), "ascii"), contentType: contract.pemType };
    },
  }),
  bind(contract.getTimestampCertificates)({
    async handle(deps) {
      await ensureKeys(deps);
      const { timestamps } = await authorities(deps.db.read);
      return { status: 200, bytes: Buffer.from(timestamps.join(""), "ascii"), contentType: contract.pemType };
    },
  }),
];
