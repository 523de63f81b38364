import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { binding, type Document, landed, notAdded, Post, today } from "./landed.ts";

/** The interface only grows: whoever was written for an earlier description of it goes on working. */

let now: Document;
beforeAll(() => {
  now = today();
});

test("the landed documents are numbered from 001, without a gap", () => {
  const names = landed().map(({ name }) => name);
  expect(names.length).toBeGreaterThan(0);
  expect(names).toEqual(names.map((_, index) => `${String(index + 1).padStart(3, "0")}.json`));
});

test.each(landed())("today's document only adds to $name", async ({ document }) => {
  expect(await notAdded(document, now)).toEqual([]);
});

test("the newest landed document is today's, apart from its wording", () => {
  const message = "run SIGNET_FREEZE=1 npm test -- test/contract/frozen.test.ts and commit the file that it adds";
  expect(binding(now), `the interface has changed: ${message}`).toEqual(binding(landed().at(-1)?.document));
});

/** What a change of the document is judged to be, on the operations on webhooks and three events. */
const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    type: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
  }),
);
type Schema = {
  type?: unknown;
  enum?: unknown[] | undefined;
  properties?: Record<string, Schema> | undefined;
  required?: string[] | undefined;
  [more: string]: unknown;
};
const Operation = z.looseObject({
  parameters: z.array(z.looseObject({ name: z.string().optional(), schema: Schema.optional() })).default([]),
  responses: z.record(z.string(), z.looseObject({ headers: z.record(z.string(), z.unknown()).optional() })),
  security: z.array(z.unknown()),
});
const Part = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  webhooks: z.record(z.string(), z.object({ post: Post })),
  components: z.looseObject({
    schemas: z.record(z.string(), Schema),
    parameters: z.record(z.string(), z.looseObject({})),
  }),
});
type Part = z.infer<typeof Part>;

const events = ["envelope.voided", "recipient.sent", "webhook.test"];
function part({ paths, webhooks, ...document }: Document): Part {
  const kept = Object.entries(paths).filter(([at]) => at.startsWith("/v1/webhook-endpoints"));
  const sent = Object.entries(webhooks).filter(([type]) => events.includes(type));
  const whole = { ...document, paths: Object.fromEntries(kept), webhooks: Object.fromEntries(sent) };
  const cut = Part.parse(structuredClone(whole));
  const needed = new Set<string>();
  const need = (value: unknown): void => {
    for (const [, name = ""] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (needed.has(name)) continue;
      needed.add(name);
      need(cut.components.schemas[name]);
    }
  };
  need({ ...cut, components: { ...cut.components, schemas: {} } });
  for (const name of Object.keys(cut.components.schemas)) if (!needed.has(name)) delete cut.components.schemas[name];
  return cut;
}

const member = (value: Part, schema: string, name: string): Schema => {
  const found = value.components.schemas[schema]?.properties?.[name];
  if (!found) throw new Error(`${schema} has no ${name}`);
  return found;
};
function without(value: Part, schema: string, name: string): void {
  const { properties = {}, required = [] } = value.components.schemas[schema] ?? {};
  delete properties[name];
  value.components.schemas[schema] = {
    ...value.components.schemas[schema],
    required: required.filter((one) => one !== name),
  };
}
function having(value: Part, schema: string, name: string, required: boolean): void {
  const known = value.components.schemas[schema];
  if (known === undefined) throw new Error(`there is no ${schema}`);
  known.properties = { ...known.properties, [name]: { type: "string" } };
  if (required) known.required = [...(known.required ?? []), name];
}
const operation = (value: Part, method: string, at: string) => {
  const found = value.paths[`/v1/webhook-endpoints${at}`]?.[method];
  if (!found) throw new Error(`there is no ${method} ${at}`);
  return found;
};
const status = (value: Part) => {
  const found = operation(value, "get", "/{id}/deliveries").parameters.find(({ name }) => name === "status")?.schema;
  if (!found) throw new Error("no status");
  return found;
};

type Change = [what: string, change: (value: Part) => void, kind: string];
const broken: Change[] = [
  ["an operation is gone", (v) => delete v.paths["/v1/webhook-endpoints/{id}"]?.delete, "api-removed"],
  [
    "a member of an answer is gone",
    (v) => without(v, "WebhookHealth", "attempts"),
    "response-required-property-removed",
  ],
  ["an optional one, too", (v) => without(v, "WebhookEndpoint", "secret"), "response-optional-property-removed"],
  [
    "a member of an answer may be missing",
    (v) => {
      const schema = v.components.schemas.WebhookHealth;
      if (schema) schema.required = schema.required?.filter((name) => name !== "attempts");
    },
    "response-property-became-optional",
  ],
  [
    "a member of an answer has another type",
    (v) => (member(v, "WebhookHealth", "attempts").type = "string"),
    "type-changed",
  ],
  [
    "a member of an answer may be null",
    (v) => (member(v, "WebhookHealth", "attempts").type = ["integer", "null"]),
    "became-nullable",
  ],
  ["a status is gone", (v) => delete operation(v, "post", "").responses[201], "response-success-status-removed"],
  [
    "a header of an answer is gone",
    (v) => delete operation(v, "get", "").responses[200]?.headers?.["x-request-id"],
    "required-response-header-removed",
  ],
  [
    "a request needs a new member",
    (v) => having(v, "CreateWebhookEndpoint", "more", true),
    "new-required-request-property",
  ],
  ["a request may not have a member", (v) => without(v, "CreateWebhookEndpoint", "events"), "request-property-removed"],
  ["a request has another type", (v) => (member(v, "CreateWebhookEndpoint", "url").type = "integer"), "type-changed"],
  ["less is accepted", (v) => (member(v, "CreateWebhookEndpoint", "url").maxLength = 10), "max-length-decreased"],
  ["a value is not accepted any more", (v) => status(v).enum?.pop(), "request-parameter-enum-value-removed"],
  ["a way to authenticate is gone", (v) => operation(v, "get", "").security.pop(), "api-security-removed"],
  ["a type of event is gone", (v) => delete v.webhooks["envelope.voided"], "api-path-removed"],
  [
    "a member of an event is gone",
    (v) => {
      const data = member(v, "WebhookTestEvent", "data");
      data.properties = { envelope: data.properties?.envelope ?? {} };
      data.required = ["envelope"];
    },
    "response-required-property-removed",
  ],
  [
    "a header of an event is gone",
    (v) => v.webhooks["webhook.test"]?.post.parameters.shift(),
    "required-response-header-removed",
  ],
];
const added: [what: string, change: Change[1]][] = [
  ["an operation", (v) => (v.paths["/v1/more"] = { get: { ...operation(v, "get", ""), operationId: "more" } })],
  ["a member of an answer", (v) => having(v, "WebhookHealth", "more", true)],
  ["a member of a request", (v) => having(v, "CreateWebhookEndpoint", "more", false)],
  ["more is accepted", (v) => (member(v, "CreateWebhookEndpoint", "url").maxLength = 4000)],
  ["a type of event in lists", (v) => v.components.schemas.EventType?.enum?.push("envelope.more")],
  ["a value of an answer", (v) => member(v, "WebhookDelivery", "trigger").enum?.push("more")],
  ["a value of an answer that is not sent any more", (v) => member(v, "WebhookDelivery", "status").enum?.pop()],
  [
    "a type of event",
    (v) =>
      (v.webhooks["envelope.more"] = {
        post: { ...Post.parse(v.webhooks["webhook.test"]?.post), operationId: "more" },
      }),
  ],
  ["a member of an event", (v) => having(v, "WebhookTestEvent", "more", true)],
  [
    "a parameter",
    (v) => operation(v, "get", "").parameters.push({ name: "more", in: "query", schema: { type: "string" } }),
  ],
];

async function judged(change: Change[1]): Promise<string[]> {
  const earlier = part(now);
  const later = part(now);
  change(later);
  expect(later).not.toEqual(earlier);
  return await notAdded(earlier, later);
}
describe("refused", () => {
  test.each(broken)("%s", async (_, change, kind) => {
    expect(await judged(change)).toContainEqual(expect.stringMatching(new RegExp(`^[a-z-]*${kind}`)));
  });
});
test(`accepted: ${added.map(([what]) => what).join(", ")}`, async () => {
  expect(await judged((value) => added.forEach(([, change]) => void change(value)))).toEqual([]);
});

test("wording and examples land no further document, members of these names do", () => {
  const described = { description: "x", properties: { description: { type: "string", example: "y" } } };
  expect(binding(described)).toEqual({ properties: { description: { type: "string" } } });
});
