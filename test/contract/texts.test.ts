import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeSettings } from "../../server/features/appliance/settings-contract.ts";
import { CreateEnvelope, Envelope } from "../../server/features/envelopes/contract.ts";
import { Template } from "../../server/features/templates/contract.ts";
import { administrator } from "../harness/admin.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { envelopeInput, publishTemplate } from "../harness/envelopes.ts";
import { placesOf, problemOf } from "../harness/http.ts";

/** What somebody names, writes or dates is kept whole or refused, by the same rules wherever it is sent. */

let app: TestAppliance;
let template: string;
let browser: Pick<CallOptions, "key" | "headers">;
beforeAll(async () => {
  app = await startAppliance({ env: { SIGNET_SIGN_UP: "open" } });
  template = await publishTemplate(app);
  browser = { key: null, headers: { cookie: await app.signIn(), origin: new URL(app.url).origin } };
});
afterAll(() => app.stop());

async function faults(path: string, json: unknown, options: CallOptions = {}): Promise<string[]> {
  return placesOf(problemOf(await app.json(path, { json, ...options })));
}

const people = (more: Record<string, unknown>) => [
  { role: "tenant", name: "Ada", email: "ada@example.com", ...more },
  { role: "landlord", name: "Ben", email: "ben@example.com" },
];
const draft = (more: Record<string, unknown>) => ({
  content: { mode: "overlay", file: "tfl_1", items: [] },
  roles: [{ name: "tenant" }],
  variables: [],
  ...more,
});
const put = { method: "PUT" };
const field = { id: "f", type: "text_input", role: "tenant", page: 1, x: 1, y: 1, width: 9, height: 9 };
const overlay = (item: object) => ({ mode: "overlay", file: "tfl_1", items: [{ ...field, ...item }] });

type Place = [pointer: string, path: string, make: (text: string) => unknown, options?: () => CallOptions];
const draftPath = () => `/v1/templates/${template}/draft`;
/** Names, titles and labels: one line. */
const lines: Place[] = [
  ["#/name", "/v1/templates", (name) => ({ name })],
  ["#/title", "/v1/envelopes", (title) => envelopeInput("tpl_x", { title })],
  ["#/externalId", "/v1/envelopes", (externalId) => envelopeInput("tpl_x", { externalId })],
  ["#/recipients/0/name", "/v1/envelopes", (name) => envelopeInput("tpl_x", { recipients: people({ name }) })],
  [
    "#/viewers/0/name",
    "/v1/envelopes",
    (name) => envelopeInput("tpl_x", { viewers: [{ email: "v@example.com", name }] }),
  ],
  ["#/cc/0/name", "/v1/envelopes", (name) => envelopeInput("tpl_x", { cc: [{ email: "v@example.com", name }] })],
  ["#/name", "/v1/api-keys", (name) => ({ name, mode: "test" }), () => browser],
  ["#/name", "/auth/profile", (name) => ({ name }), () => ({ ...browser, method: "PATCH" })],
  ["#/name", "/auth/organization", (name) => ({ name }), () => ({ ...browser, method: "PATCH" })],
  [
    "#/name",
    "/auth/sign-up",
    (name) => ({ name, email: "n@example.com", password: "correct horse battery" }),
    () => browser,
  ],
  ["#/name", "draft", (name) => draft({ name }), () => put],
  ["#/roles/0/name", "draft", (name) => draft({ roles: [{ name }] }), () => put],
  ["#/content/items/0/role", "draft", (role) => draft({ content: overlay({ role }) }), () => put],
  ["#/content/items/0/label", "draft", (label) => draft({ content: overlay({ label }) }), () => put],
];

describe.each([
  ["#/settings/consentText", (consentText: string) => draft({ settings: { consentText } })],
  [
    "#/content/items/0/options/0/value",
    (value: string) => draft({ content: overlay({ type: "dropdown", options: [{ value }] }) }),
  ],
])("%s of a draft", (pointer, make) => {
  it.each([" ", "\u200b\u00a0"])("refuses %j, of which nothing can be seen", async (text) => {
    expect(await faults(draftPath(), make(text), put)).toContain(`${pointer} min`);
  });
});

describe.each(lines)("%s of %s", (pointer, path, make, options) => {
  it.each([
    [" ", "min"],
    ["\u200b\u00a0", "min"],
    ["a\u0007b", "pattern"],
    ["two\nlines", "pattern"],
    ["a\u202eb", "pattern"],
  ])("refuses %j as %s", async (text, code) => {
    const target = path === "draft" ? draftPath() : path;
    expect(await faults(target, make(text), options?.())).toContain(`${pointer} ${code}`);
  });
});

const words: Place[] = [
  ["#/message", "/v1/envelopes", (message) => envelopeInput("tpl_x", { message })],
  ["#/metadata/note", "/v1/envelopes", (note) => envelopeInput("tpl_x", { metadata: { note } })],
  ["#/description", "/v1/templates", (description) => ({ name: "n", description })],
  [
    "#/content/items/0/text",
    "draft",
    (text) => draft({ content: overlay({ id: "t", type: "text", text, role: undefined }) }),
    () => put,
  ],
];
describe.each(words)("%s of %s", (pointer, path, make, options) => {
  it("may have lines, and no control characters", async () => {
    const target = path === "draft" ? draftPath() : path;
    expect(await faults(target, make("a\u0007b"), options?.())).toContain(`${pointer} pattern`);
    const answer = await app.json(target, { json: make("one\r\n\ttwo"), ...options?.() });
    expect(JSON.stringify(answer.body)).not.toContain(`${pointer}"`);
  });
});

describe("dates that do not exist", () => {
  it.each([
    ["#/expiresAt", () => faults("/v1/envelopes", envelopeInput("tpl_x", { expiresAt: "2027-02-30T09:10:00.000Z" }))],
    [
      "#/content/items/0/min",
      () => faults(draftPath(), draft({ content: overlay({ type: "date", min: "2027-02-30" }) }), put),
    ],
    [
      "#/content/items/0/max",
      () => faults(draftPath(), draft({ content: overlay({ type: "date", max: "2027-02-30" }) }), put),
    ],
    [
      "#/content/items/0/default",
      () => faults(draftPath(), draft({ content: overlay({ type: "date", default: "2027-02-30" }) }), put),
    ],
  ])("are refused: %s", async (pointer, found) => {
    expect((await found()).map((place) => place.split(" ")[0])).toContain(pointer);
  });
});

describe("languages that nobody speaks", () => {
  it.each([
    ["#/locale", () => faults("/v1/envelopes", envelopeInput("tpl_x", { locale: "xx" }))],
    [
      "#/recipients/0/locale",
      () => faults("/v1/envelopes", envelopeInput("tpl_x", { recipients: people({ locale: "xx" }) })),
    ],
    [
      "#/viewers/0/locale",
      () => faults("/v1/envelopes", envelopeInput("tpl_x", { viewers: [{ email: "v@example.com", locale: "xx-DE" }] })),
    ],
    ["#/settings/locale", () => faults(draftPath(), draft({ settings: { locale: "xx" } }), put)],
    ["#/locale", () => faults(`/v1/templates/${template}/versions/1/render`, { locale: "xx" })],
    ["#/locale", () => faults("/auth/profile", { locale: "xx" }, { ...browser, method: "PATCH" })],
    ["#/locale", () => faults("/auth/organization", { locale: "xx" }, { ...browser, method: "PATCH" })],
    ["#/locale", () => faults("/auth/codes", { email: "a@example.com", locale: "xx" }, browser)],
  ])("are refused: %s", async (pointer, found) => {
    expect(await found()).toContain(`${pointer} enum`);
  });
});

describe("keys that JavaScript has for itself", () => {
  const metadata = '{"__proto__":"1","constructor":"2","toString":"3"}';
  const sent = (value: object) => JSON.stringify(value).replace('"METADATA"', metadata);
  const headers = { "content-type": "application/json" };
  const sorted = (value: object) => Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const whole = [
    ["__proto__", "1"],
    ["constructor", "2"],
    ["toString", "3"],
  ];

  it("of a role are named as they were saved, be it before these rules", () => {
    const role = "Tenant\t\u202a1";
    expect(CreateEnvelope.safeParse(envelopeInput("tpl_0123456789", { recipients: people({ role }) })).success).toBe(
      true,
    );
  });

  it("stay in the metadata of a template", async () => {
    const made = await app.json("/v1/templates", { body: sent({ name: "Keys", metadata: "METADATA" }), headers });
    expect(sorted(Template.parse(made.body).metadata)).toEqual(whole);
    const read = await app.json(`/v1/templates/${Template.parse(made.body).id}`);
    expect(sorted(Template.parse(read.body).metadata)).toEqual(whole);
  });

  it("stay in the metadata of an envelope, and name variables, roles and fields", async () => {
    const names = ["__proto__", "constructor"];
    const made = Template.parse((await app.json("/v1/templates", { json: { name: "Odd names" } })).body);
    const original = await app.json(draftPath().replace("/draft", "/versions/1"));
    const { content } = original.body as { content: { file: string } };
    const source = await app.call(`/v1/templates/${template}/versions/1/document`);
    const file = await app.json(`/v1/templates/${made.id}/files`, {
      body: Buffer.from(await source.arrayBuffer()),
      headers: { "content-type": "application/pdf" },
    });
    expect(content.file).not.toBe("");
    const box = { page: 1, x: 50, y: 100, width: 200, height: 40 };
    const json = {
      content: {
        mode: "overlay",
        file: (file.body as { id: string }).id,
        items: [
          { id: "text", type: "text", text: "{{__proto__}} {{constructor}}", ...box },
          ...names.map((role, index) => ({ id: `sign${index}`, type: "signature", role, ...box, y: 200 + 90 * index })),
          { id: "constructor", type: "text_input", role: "__proto__", required: false, ...box, y: 500 },
        ],
      },
      roles: names.map((name) => ({ name, verification: "none" })),
      variables: names.map((name) => ({ name })),
    };
    expect((await app.json(`/v1/templates/${made.id}/draft`, { method: "PUT", json })).status).toBe(200);
    expect((await app.json(`/v1/templates/${made.id}/publish`, { method: "POST" })).status).toBe(201);
    const recipients = names.map((role, index) => ({ role, name: role, email: `p${index}@example.com` }));
    const variables = '{"__proto__":"first","constructor":"second"}';
    const values = '{"__proto__":{"constructor":"typed"}}';
    const body = sent({ template: made.id, recipients, metadata: "METADATA", variables: "VARIABLES", values: "VALUES" })
      .replace('"VARIABLES"', variables)
      .replace('"VALUES"', values);
    const created = await app.json("/v1/envelopes", { body, headers });
    expect([created.status, JSON.stringify(created.body)]).toEqual([201, expect.any(String)]);
    await app.jobs.idle();
    const envelope = Envelope.parse((await app.json(`/v1/envelopes/${Envelope.parse(created.body).id}`)).body);
    expect(envelope.status).toBe("sent");
    expect(sorted(envelope.metadata)).toEqual(whole);
    expect(sorted(envelope.values?.variables ?? {})).toEqual([
      ["__proto__", "first"],
      ["constructor", "second"],
    ]);
  });

  it("are no settings, and are refused as such", async () => {
    const changes = JSON.parse('{"__proto__":"x"}');
    const failed = await administrator(app)
      .call(changeSettings, { body: { changes } })
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ problem: { status: 422, code: "validation-failed" } });
  });
});
