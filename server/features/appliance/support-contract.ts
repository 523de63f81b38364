import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Ts } from "../../kernel/wire.ts";

/** A file for whoever helps: shown before it is saved, without secrets, documents, names and addresses of people. */

export const SupportBundle = z
  .object({
    id: z.string(),
    createdAt: Ts,
    filename: z.string(),
    /** Exactly what the file will hold. */
    files: z.array(z.object({ name: z.string(), bytes: z.int(), text: z.string() })),
  })
  .meta({ id: "SupportBundle" });
export type SupportBundle = z.infer<typeof SupportBundle>;

export const prepareSupportBundle = localEndpoint({
  method: "POST",
  path: "/local/support-bundle",
  id: "prepareSupportBundle",
  summary: "Gather a support bundle and show what is in it",
  responses: { 200: { kind: "json", schema: SupportBundle } },
});

export const saveSupportBundle = localEndpoint({
  method: "GET",
  path: "/local/support-bundle/{id}",
  id: "saveSupportBundle",
  summary: "The support bundle that was shown last, as a ZIP file",
  params: z.object({ id: z.string().max(60) }),
  responses: { 200: { kind: "stream", types: ["application/zip"] } },
  errors: ["not-found"],
});

export const supportEndpoints = [prepareSupportBundle, saveSupportBundle];
