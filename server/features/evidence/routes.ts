import { bind } from "../../kernel/binding.ts";
import { pdf } from "../../kernel/wire.ts";
import * as contract from "./contract.ts";
import { anchorBySequence, downloadByToken, latestAnchor, listAnchors, lookUpDocument } from "./service.ts";

export const bindings = [
  bind(contract.listAnchors)({
    handle: async (deps, { query }) => ({ status: 200, body: await listAnchors(deps, query) }),
  }),
  bind(contract.latestAnchor)({
    handle: async (deps) => ({ status: 200, body: await latestAnchor(deps) }),
  }),
  bind(contract.getAnchor)({
    handle: async (deps, { params }) => ({ status: 200, body: await anchorBySequence(deps, params.sequence) }),
  }),
  bind(contract.verifyDocument)({
    handle: async (deps, { body }) => ({ status: 200, body: await lookUpDocument(deps, body.sha256) }),
  }),
  bind(contract.downloadDocument)({
    async handle(deps, { params }) {
      const { bytes, sha256, filename } = await downloadByToken(deps, params.token);
      return { status: 200, bytes, contentType: pdf, etag: sha256, disposition: "attachment", filename };
    },
  }),
];
