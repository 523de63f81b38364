import { type Binding, bind } from "../../kernel/binding.ts";
import { pdf } from "../../kernel/wire.ts";
import { lastSeen } from "../envelopes/service.ts";
import * as contract from "./contract.ts";
import { exchangeToken, viewerDocument, viewerEnvelope } from "./service.ts";
import { followAsViewer } from "./stream.ts";

// A token in a query ends up in histories and logs: only the stream, whose browser API knows no headers, declares one there.
export const bindings: Binding[] = [
  bind(contract.exchangeViewerToken)({
    handle: async (deps, { body, request }) => {
      const { result, headers } = await exchangeToken(deps, body.token, request);
      return { status: 200, body: result, headers };
    },
  }),
  bind(contract.getViewerEnvelope)({
    handle: async (deps, { caller, request }) => {
      return { status: 200, body: await viewerEnvelope(deps, caller, request) };
    },
  }),
  bind(contract.getViewerDocument)({
    handle: async (deps, { caller }) => {
      const { bytes, sha256, filename } = await viewerDocument(deps, caller);
      return { status: 200, bytes, contentType: pdf, etag: sha256, disposition: "inline", filename };
    },
  }),
  bind(contract.streamViewer)({
    handle: async (deps, { caller, request }) => {
      const given = request.header("last-event-id");
      const seen = given === null || given.trim() === "" ? null : lastSeen(given);
      return { status: 200, events: followAsViewer(deps, caller, seen, request) };
    },
  }),
];
