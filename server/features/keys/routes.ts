import { bind } from "../../kernel/binding.ts";
import * as contract from "./contract.ts";
import { caCertificates, ensureKeys, publicAnchorKeys } from "./service.ts";

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
      const pem = (await caCertificates(deps.db.read)).join("");
      return { status: 200, bytes: Buffer.from(pem, "ascii"), contentType: contract.pemType };
    },
  }),
];
