import { hashSecret } from "../../kernel/ids.ts";
import { viewerOf } from "../envelopes/service.ts";
import type { OutlivedCheck } from "../mail/service.ts";
import * as store from "./store.ts";

/** Why a viewer's link is of no use any more: to be asked before its mail is delivered. */
export const viewerMailOutlived: OutlivedCheck = async ({ db }, { content }) => {
  if (content.kind !== "viewer_invite" && content.kind !== "viewer_update") return null;
  const link = await store.findLink(db.read, hashSecret(new URL(content.link).hash.slice(1)));
  const watched = link && (await viewerOf(db.read, link.viewer));
  return watched && watched.viewer.revoked_at !== null ? "The sender no longer shares the envelope with them." : null;
};
