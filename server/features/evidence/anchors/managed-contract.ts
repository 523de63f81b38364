import { z } from "zod";
import { localEndpoint } from "../../../kernel/endpoint.ts";
import { Hex64, Ts } from "../../../kernel/wire.ts";

const WitnessReceipt = z.object({ witness: z.string(), at: Ts });

export const ManagedAnchor = z.object({
  sequence: z.int(),
  treeSize: z.int(),
  rootHash: Hex64,
  anchorHash: Hex64,
  createdAt: Ts,
  kid: z.string(),
  /** Whether an outside authority stamped it. */
  timestamped: z.boolean(),
  /** What witnesses have confirmed. */
  receipts: z.array(WitnessReceipt),
});

export const ManagedAnchors = z
  .object({
    treeSize: z.int(),
    /** Seals that no anchor covers yet. */
    waiting: z.int(),
    intervalSeconds: z.int(),
    /**
     * Why no anchor is signed: this data was restored, or a witness holds a later anchor of ours (`later` is its number). Null when
     * all is well.
     */
    held: z
      .object({
        reason: z.enum(["restored", "witness"]),
        since: Ts,
        backup: z.string().nullable(),
        later: z.int().nullable(),
      })
      .nullable(),
    /** When they went on, which is recent: the operators' audit says who answered for it, a witness or a person. */
    resumed: z.object({ since: Ts, at: Ts }).nullable(),
    /** Who is told of every anchor. */
    witnesses: z.array(z.object({ witness: z.enum(["folder", "url", "mail"]), target: z.string() })),
    /** Newest first. */
    data: z.array(ManagedAnchor),
  })
  .meta({ id: "ManagedAnchors" });
export type ManagedAnchors = z.infer<typeof ManagedAnchors>;

export const listManagedAnchors = localEndpoint({
  method: "GET",
  path: "/local/anchors",
  id: "listManagedAnchors",
  summary: "The latest anchors with their witnesses, and what waits for the next one",
  query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(20) }),
  responses: { 200: { kind: "json", schema: ManagedAnchors } },
});

export const anchorNow = localEndpoint({
  method: "POST",
  path: "/local/anchors",
  id: "anchorNow",
  summary: "Sign an anchor now instead of at the next turn",
  responses: {
    200: { kind: "json", schema: z.object({ /** Null when nothing waited. */ sequence: z.int().nullable() }) },
  },
  errors: ["service-unavailable"],
});

export const resumeAnchors = localEndpoint({
  method: "POST",
  path: "/local/anchors/resume",
  id: "resumeAnchors",
  summary:
    "Answer for it that the machine of before published no later anchor under the key in use, and let anchors go on",
  responses: { 200: { kind: "json", schema: ManagedAnchors } },
  errors: ["conflict"],
});

export const anchorsEndpoints = [listManagedAnchors, anchorNow, resumeAnchors];
