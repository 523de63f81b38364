import { bind } from "../../kernel/binding.ts";
import * as contract from "./contract.ts";
import { authorityBy, publishedRevocationList } from "./revocation.ts";
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
  bind(contract.getAuthorityCertificate)({
    async handle(deps, { params }) {
      const { certificate } = await authorityBy(deps, params.authority);
      return { status: 200, bytes: certificate, contentType: contract.certificateType };
    },
  }),
  bind(contract.getRevocationList)({
    async handle(deps, { params }) {
      const bytes = await publishedRevocationList(deps, params.authority);
      return { status: 200, bytes, contentType: contract.listType };
    },
  }),
];
