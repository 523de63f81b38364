import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { recordOf } from "../../kernel/record.ts";
import { Email, GivenLocale, Line, TimeZone } from "../../kernel/wire.ts";
import { Params } from "../health/contract.ts";

/** Each step of the setup is read off from what is really there, so that it can be left and taken up at any time. */

export const setupSteps = ["owner", "address", "tls", "mail", "clock", "keys", "backup", "summary"] as const;
export const SetupStepName = z.enum(setupSteps);
export type SetupStepName = z.infer<typeof SetupStepName>;

/** Those that somebody may decide against. */
export const skippableSteps: readonly SetupStepName[] = ["address", "tls", "mail", "backup"];

export const SetupState = z
  .object({
    complete: z.boolean(),
    steps: z.array(
      z.object({
        step: SetupStepName,
        state: z.enum(["done", "open", "skipped"]),
        /** Which words these are, so that pages have them in their language: `mail.files`. */
        code: z.string(),
        params: Params,
        detail: z.string(),
        /** What to do; null when it is done. */
        action: z.string().nullable(),
      }),
    ),
    restartNeeded: z.boolean(),
  })
  .meta({ id: "SetupState" });
export type SetupState = z.infer<typeof SetupState>;

export const getSetup = localEndpoint({
  method: "GET",
  path: "/local/setup",
  id: "getSetup",
  summary: "What is set up and what is still open",
  responses: { 200: { kind: "json", schema: SetupState } },
});

export const skipSetupStep = localEndpoint({
  method: "POST",
  path: "/local/setup/{step}/skip",
  id: "skipSetupStep",
  summary: "Leave a step out, or take that back",
  params: z.object({ step: SetupStepName }),
  body: { kind: "json", maxBytes: 1024, schema: z.strictObject({ skip: z.boolean() }) },
  responses: { 200: { kind: "json", schema: SetupState } },
  errors: ["validation-failed", "conflict"],
});

export const makeFirstLink = localEndpoint({
  method: "POST",
  path: "/local/setup/first-link",
  id: "makeFirstLink",
  summary: "Make the one-time link that creates the first owner; those made before stop working",
  responses: { 200: { kind: "json", schema: z.object({ link: z.string() }) } },
  errors: ["conflict"],
});

/** What a script says instead of a person; everything may be left out, and what is there already stays. */
export const SetupAnswers = z.strictObject({
  /** As in signet.json. */
  settings: recordOf(
    z.string(),
    z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]),
  ).optional(),
  owner: z
    .strictObject({
      organization: Line(200),
      email: Email,
      name: Line(200).optional(),
      locale: GivenLocale.optional(),
      timeZone: TimeZone.optional(),
    })
    .optional(),
  skip: z.array(SetupStepName).optional(),
});
export type SetupAnswers = z.infer<typeof SetupAnswers>;

export const SetupResult = z
  .object({
    /** What was done now; empty when everything was there already. */
    changed: z.array(z.string()),
    /** One-time link of the owner: for whom the answers name, or to create the first one. Null when there is an owner. */
    link: z.string().nullable(),
    setup: SetupState,
  })
  .meta({ id: "SetupResult" });
export type SetupResult = z.infer<typeof SetupResult>;

export const applySetup = localEndpoint({
  method: "POST",
  path: "/local/setup",
  id: "applySetup",
  summary: "Apply a file of answers; applying it again changes nothing",
  body: { kind: "json", maxBytes: 256 * 1024, schema: SetupAnswers },
  responses: { 200: { kind: "json", schema: SetupResult } },
  errors: ["validation-failed", "conflict"],
});

export const setupEndpoints = [getSetup, applySetup, makeFirstLink, skipSetupStep];
