import { bind } from "../../kernel/binding.ts";
import type { OrganizationCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import { pdf } from "../../kernel/wire.ts";
import { uploadWarnings } from "../templates/service.ts";
import * as actions from "./actions.ts";
import * as contract from "./contract.ts";
import { createEnvelope, dryRun } from "./create.ts";
import { presentEnvelope, presentViewer, presentWithValues } from "./present.ts";
import type { Creation } from "./rows.ts";
import { auditPage, documentOf, listEnvelopes, ownedEnvelope } from "./service.ts";
import { followEnvelope, isOver, lastSeen } from "./stream.ts";

type EnvelopeCall = { caller: OrganizationCaller; params: { id: string } };
const load = (deps: Deps, { caller, params }: EnvelopeCall) => ownedEnvelope(deps, params.id, caller);

const by = ({ actor }: OrganizationCaller, { ip, userAgent }: RequestInfo): actions.By => ({ actor, ip, userAgent });

export const bindings = [
  bind(contract.createEnvelope)({
    async handle(deps, { caller, query, body, request }) {
      const creation: Creation = {
        ...by(caller, request),
        organization: caller.organization,
        // The key fixes the mode; only a dashboard session may choose it.
        testMode: caller.testMode ?? query.test_mode ?? false,
        source: caller.kind === "user" ? "dashboard" : "api",
        signingLink: null,
        input: body,
      };
      if (query.dry_run === true) return { status: 200, body: await dryRun(deps, creation) };
      const { record, warnings, deduplicated } = await createEnvelope(deps, creation, request.remember);
      const envelope = presentEnvelope(record, warnings);
      if (!deduplicated) return { status: 201, body: envelope };
      return { status: 200, body: envelope, headers: { "x-deduplicated": "true" } };
    },
  }),
  bind(contract.listEnvelopes)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await listEnvelopes(deps, caller, query) };
    },
  }),
  bind(contract.getEnvelope)({
    load,
    async handle(deps, _call, record) {
      const warnings = await uploadWarnings(deps, deps.db.read, record.envelope);
      return { status: 200, body: presentWithValues(record, warnings) };
    },
  }),
  bind(contract.getDocument)({
    load,
    async handle(deps, { query }, record) {
      const { bytes, sha256, filename } = await documentOf(deps, record, query.version);
      return { status: 200, bytes, contentType: pdf, etag: sha256, disposition: "attachment", filename };
    },
  }),
  bind(contract.voidEnvelope)({
    load,
    async handle(deps, { caller, body, request }, { envelope }) {
      const voided = await actions.voidEnvelope(deps, envelope.id, body, by(caller, request), request.remember);
      return { status: 200, body: voided };
    },
  }),
  bind(contract.addViewers)({
    load,
    async handle(deps, { caller, body, request }, { envelope }) {
      const record = await actions.addViewers(deps, envelope.id, body.viewers, by(caller, request));
      const data = record.viewers.map((viewer) => presentViewer(viewer, record.envelope));
      return { status: 200, body: { data, hasMore: false, nextCursor: null } };
    },
  }),
  bind(contract.deleteViewer)({
    load,
    async handle(deps, { caller, params, request }, { envelope }) {
      await actions.deleteViewer(deps, envelope.id, params.viewer, by(caller, request));
      return { status: 204 };
    },
  }),
  bind(contract.listEvents)({
    load,
    async handle(deps, { query }, { envelope }) {
      return { status: 200, body: await auditPage(deps, envelope.id, query) };
    },
  }),
  bind(contract.streamEvents)({
    load,
    async handle(deps, { request }, { envelope }) {
      const seen = lastSeen(request.header("last-event-id"));
      if (isOver(envelope, seen)) return { status: 204 };
      return { status: 200, events: followEnvelope(deps, envelope.id, seen, request) };
    },
  }),
];
