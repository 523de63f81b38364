import { bind } from "../../kernel/binding.ts";
import { pdf } from "../../kernel/wire.ts";
import { ownedEnvelope } from "../envelopes/service.ts";
import { evidenceBundle } from "./bundle/make.ts";
import * as contract from "./contract.ts";
import {
  anchorBySequence,
  checkpointBySequence,
  downloadByToken,
  latestAnchor,
  listAnchors,
  lookUpDocument,
  witnessesOfAnchor,
} from "./service.ts";

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
  bind(contract.getCheckpoint)({
    async handle(deps, { params }) {
      const note = await checkpointBySequence(deps, params.sequence);
      return { status: 200, bytes: Buffer.from(note), contentType: `${contract.noteType}; charset=utf-8` };
    },
  }),
  bind(contract.getWitnesses)({
    handle: async (deps, { params }) => ({ status: 200, body: await witnessesOfAnchor(deps, params.sequence) }),
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
  bind(contract.getEvidence)({
    load: (deps, { caller, params }) => ownedEnvelope(deps, params.id, caller),
    async handle(deps, _, record) {
      const { pieces, filename } = await evidenceBundle(deps, record);
      return { status: 200, pieces, contentType: contract.zipType, filename };
    },
  }),
];
