import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { recordOf } from "../../kernel/record.ts";

/** The settings of signet.json; on the admin socket only. */

export const Setting = z.object({
  key: z.string(),
  variable: z.string(),
  meaning: z.string(),
  /** What is in force after the next start; null when nothing is set and there is no default, or when it is a secret. */
  value: z.string().nullable(),
  /** Whether a secret is set. */
  isSet: z.boolean(),
  source: z.enum(["default", "file", "environment"]),
  fallback: z.string().nullable(),
  secret: z.boolean(),
  choices: z.array(z.string()).nullable(),
  /** Changed since the appliance started: the next start brings it into force. */
  pending: z.boolean(),
});
export type Setting = z.infer<typeof Setting>;

export const SettingList = z.object({ data: z.array(Setting), restartNeeded: z.boolean() }).meta({ id: "SettingList" });
export type SettingList = z.infer<typeof SettingList>;

export const listSettings = localEndpoint({
  method: "GET",
  path: "/local/settings",
  id: "listSettings",
  summary: "Every setting with its value and where it comes from",
  responses: { 200: { kind: "json", schema: SettingList } },
});

export const changeSettings = localEndpoint({
  method: "PATCH",
  path: "/local/settings",
  id: "changeSettings",
  summary: "Change settings in signet.json, all or none; null takes one out",
  body: {
    kind: "json",
    maxBytes: 256 * 1024,
    schema: z.strictObject({ changes: recordOf(z.string(), z.string().max(10_000).nullable()) }),
  },
  responses: { 200: { kind: "json", schema: SettingList } },
  errors: ["validation-failed", "conflict"],
});

export const settingsEndpoints = [listSettings, changeSettings];
