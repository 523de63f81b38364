import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EnvelopeDryRun } from "../../../server/features/envelopes/contract.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  createEnvelope,
  envelopeInput,
  getEnvelope,
  listEnvelopes,
  problemOf,
  publishTemplate,
  sentEnvelope,
  trailOf,
} from "../../harness/envelopes.ts";

let appliance: TestAppliance;
let template: string;

beforeAll(async () => {
  appliance = await startAppliance();
  template = await publishTemplate(appliance);
});
afterAll(() => appliance.stop());

describe("creating an envelope", () => {
  it("answers at once, draws in a job and gives the first turn its go", async () => {
    const created = await createEnvelope(appliance, template, {
      title: "Flat 7",
      cc: [{ email: "cc@example.com", name: "Cleo" }],
      viewers: [{ email: "vi@example.com" }],
      metadata: { flat: "7" },
    });
    expect(created).toMatchObject({
      status: "rendering",
      seal: "not_started",
      title: "Flat 7",
      templateVersion: 1,
      testMode: false,
      source: "api",
      locale: "en",
      metadata: { flat: "7" },
      pageCount: null,
    });
    expect(created.recipients.map(({ role, status, order }) => ({ role, status, order }))).toEqual([
      { role: "tenant", status: "pending", order: 1 },
      { role: "landlord", status: "pending", order: 2 },
    ]);
    expect(created.viewers).toHaveLength(1);
    expect(created).not.toHaveProperty("values");
    await appliance.jobs.idle();
    const sent = await getEnvelope(appliance, created.id);
    expect(sent).toMatchObject({
      status: "sent",
      pageCount: 2,
      values: { variables: { rent: 1850, note: "none" }, recipients: {} },
    });
    expect(sent.recipients.map(({ status }) => status)).toEqual(["sent", "pending"]);
    expect(sent.recipients[0]?.sentAt).toBe(sent.sentAt);
    expect(
      (await appliance.mail()).filter(({ envelope, kind }) => envelope === created.id && kind === "signing_request"),
    ).toHaveLength(1);

    const trail = await trailOf(appliance, created.id);
    expect(trail.data.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      "1 envelope.created",
      "2 viewer.added",
      "3 envelope.ready",
      "4 recipient.sent",
    ]);
    expect(trail.data[2]?.data.documentSha256).toBe(sent.documentSha256);
    expect(trail.verification).toMatchObject({ valid: true, length: 4, headHash: trail.data[3]?.hash });
  });

  it("reports every error at once, in the order of the document", async () => {
    const problem = await problemOf(appliance, "/v1/envelopes", {
      json: {
        template,
        recipients: [
          { role: "tenant", name: "Ada", email: "ada@example.com", redirectUrl: "http://example.com/back" },
          { role: "tenant", name: "Ada", email: "ada@example.com" },
          { role: "pope", name: "Leo", email: "leo@example.com" },
        ],
        variables: { rent: "much" },
        values: {
          tenant: { "tenant-iban": "far too long for it", "tenant-signature": "x", nothing: 1 },
          nobody: { a: 1 },
        },
        dedupeOn: "external_id",
        expiresAt: "2020-01-01T00:00:00Z",
      },
    });
    expect(problem).toMatchObject({ status: 422, code: "validation-failed" });
    const found = problem.errors?.map((error) => `${"pointer" in error ? error.pointer : ""} ${error.code}`);
    expect(found?.toSorted()).toEqual(
      [
        "#/recipients/0/redirectUrl format",
        "#/recipients/1/role duplicate",
        "#/recipients/2/role reference",
        "#/recipients required",
        "#/variables/rent type",
        "#/values/tenant/tenant-iban max",
        "#/values/tenant/tenant-signature conflict",
        "#/values/tenant/nothing reference",
        "#/values/nobody reference",
        "#/externalId required",
        "#/expiresAt min",
      ].toSorted(),
    );
    const places =
      found?.map((text) =>
        ["recipients", "variables", "values", "externalId", "expiresAt"].findIndex((name) =>
          text.startsWith(`#/${name}`),
        ),
      ) ?? [];
    expect(places.filter((place) => place !== 3)).toEqual(
      places.filter((place) => place !== 3).toSorted((a, b) => a - b),
    );
  });

  it("names unknown templates and versions, and refuses a template without a version", async () => {
    const unknown = await problemOf(appliance, "/v1/envelopes", {
      json: envelopeInput("tpl_000000000000000000000000"),
    });
    expect(unknown.errors).toMatchObject([{ pointer: "#/template", code: "reference" }]);
    const version = await problemOf(appliance, "/v1/envelopes", {
      json: envelopeInput(template, { templateVersion: 7 }),
    });
    expect(version.errors).toMatchObject([{ pointer: "#/templateVersion", code: "reference" }]);
    const { body } = await appliance.json("/v1/templates", { json: { name: "Empty" } });
    const empty = typeof body === "object" && body !== null && "id" in body ? String(body.id) : "";
    expect(await problemOf(appliance, "/v1/envelopes", { json: envelopeInput(empty) })).toMatchObject({
      status: 409,
      code: "no-published-version",
    });
  });

  it("validates and draws in a dry run, and writes nothing", async () => {
    const before = (await listEnvelopes(appliance, {})).data.length;
    const { status, body } = await appliance.json("/v1/envelopes?dry_run=1", {
      json: envelopeInput(template, { variables: { rent: 1, more: "x" } }),
    });
    expect(status).toBe(200);
    const run = EnvelopeDryRun.parse(body);
    expect(run).toMatchObject({
      dryRun: true,
      templateVersion: 1,
      testMode: false,
      pageCount: 2,
      unusedVariables: ["more"],
      wouldCount: true,
    });
    expect(run.recipients).toMatchObject([
      { role: "tenant", order: 1, fields: 2, delivery: "email", verification: "none" },
      { role: "landlord", order: 2, fields: 1 },
    ]);
    expect((await listEnvelopes(appliance, {})).data).toHaveLength(before);
    expect((await appliance.call("/v1/envelopes?dry_run=yes", { json: envelopeInput(template) })).status).toBe(422);
    expect(
      (await appliance.call("/v1/envelopes?dry_run=true", { json: envelopeInput(template, { variables: {} }) })).status,
    ).toBe(422);
  });

  it("warns in a dry run of a signer who has nowhere to sign", async () => {
    const role = (name: string) => ({ name, verification: "none" });
    const own = await publishTemplate(appliance, { roles: [role("tenant"), role("landlord"), role("witness")] });
    const { recipients } = envelopeInput(own);
    const witness = { role: "witness", name: "Wim Witness", email: "wim@example.com" };
    const dry = async (of: string, people: object[]) =>
      EnvelopeDryRun.parse(
        (await appliance.json("/v1/envelopes?dry_run=1", { json: envelopeInput(of, { recipients: people }) })).body,
      ).warnings.filter(({ code }) => code === "no-signature-field");
    expect(await dry(own, [...recipients, witness])).toMatchObject([{ message: expect.stringContaining("witness") }]);
    expect(await dry(template, recipients)).toEqual([]);
  });

  it("takes expiry and reminders from the template unless the request says otherwise", async () => {
    const own = await publishTemplate(appliance, {
      settings: { expiresInDays: 10, reminders: { firstAfterDays: 2, everyDays: null, max: 1 } },
    });
    const plain = await createEnvelope(appliance, own);
    expect(Date.parse(plain.expiresAt ?? "") - Date.parse(plain.createdAt)).toBe(10 * 86_400_000);
    expect(plain.reminders).toEqual({ firstAfterDays: 2, everyDays: null, max: 1 });
    const expiresAt = new Date(Date.now() + 7_200_000).toISOString();
    const other = await createEnvelope(appliance, own, { expiresAt, reminders: null });
    expect(other).toMatchObject({ expiresAt, reminders: null });
  });
});

describe("roles", () => {
  const role = (name: string, more: Record<string, unknown>) => ({
    name,
    label: null,
    kind: "signer",
    order: 1,
    verification: "none",
    countersigner: null,
    ...more,
  });

  it("brings in the countersigner that the template names", async () => {
    const countersigner = { name: "Example Ltd", email: "sign@example.com" };
    const own = await publishTemplate(appliance, {
      roles: [role("tenant", {}), role("landlord", { kind: "countersigner", order: 2, countersigner })],
    });
    const recipients = [{ role: "tenant", name: "Ada", email: "ada@example.com" }];
    const { recipients: people } = await sentEnvelope(appliance, own, { recipients });
    expect(people).toMatchObject([
      { role: "tenant", kind: "signer", status: "sent" },
      { role: "landlord", kind: "countersigner", status: "pending", ...countersigner, order: 2 },
    ]);
  });

  it("lets the request set turns, and keeps the template's for the others", async () => {
    const { recipients } = await sentEnvelope(appliance, template, {
      recipients: [
        { role: "tenant", name: "Ada", email: "same@example.com", order: 2 },
        { role: "landlord", name: "Ben", email: "same@example.com", delivery: "embedded" },
      ],
    });
    expect(recipients).toMatchObject([
      { order: 2, status: "sent", lastSentAt: expect.any(String) },
      { order: 2, status: "sent", delivery: "embedded", lastSentAt: null },
    ]);
  });

  it("refuses ways of verification that this appliance does not offer", async () => {
    const problem = await problemOf(appliance, "/v1/envelopes", {
      json: envelopeInput(template, {
        recipients: [
          { role: "tenant", name: "Ada", email: "ada@example.com", verification: "sms_otp", phone: "+41441234567" },
          { role: "landlord", name: "Ben", email: "ben@example.com" },
        ],
      }),
    });
    expect(problem).toMatchObject({ status: 403, code: "feature-disabled" });
  });
});

describe("de-duplication", () => {
  it("makes one envelope of 1000 concurrent creates with one externalId", async () => {
    const json = envelopeInput(template, { externalId: "one of many", dedupeOn: "external_id" });
    const answers = await Promise.all(Array.from({ length: 1000 }, () => appliance.json("/v1/envelopes", { json })));
    const ids = new Set(
      answers.map(({ body }) => (typeof body === "object" && body !== null && "id" in body ? body.id : null)),
    );
    expect(ids.size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const repeats = answers.filter(({ status }) => status === 200);
    expect(repeats).toHaveLength(999);
    expect(repeats.every(({ headers }) => headers.get("x-deduplicated") === "true")).toBe(true);
    expect((await listEnvelopes(appliance, { q: "one of many" })).data).toHaveLength(1);
  }, 120_000);

  it("finds an earlier envelope in any state and however it was made, in its mode only", async () => {
    const first = await createEnvelope(appliance, template, { externalId: "made before" });
    await appliance.json(`/v1/envelopes/${first.id}/void`, { json: { reason: "no" } });
    const again = await appliance.json("/v1/envelopes", {
      json: envelopeInput(template, { externalId: "made before", dedupeOn: "external_id" }),
    });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ id: first.id, status: "voided" });
    const repeated = await createEnvelope(appliance, template, { externalId: "made before" });
    expect(repeated.id).not.toBe(first.id);
    const other = await createEnvelope(
      appliance,
      template,
      { externalId: "made before", dedupeOn: "external_id" },
      { key: "test" },
    );
    expect(other.testMode).toBe(true);
  });
});

describe("modes and permissions", () => {
  it("keeps test and live apart", async () => {
    const test = await sentEnvelope(appliance, template, { title: "Only a test" }, { key: "test" });
    expect(test.testMode).toBe(true);
    for (const path of ["", "/document", "/events", "/events/stream"]) {
      expect((await appliance.call(`/v1/envelopes/${test.id}${path}`)).status).toBe(404);
    }
    expect((await appliance.call(`/v1/envelopes/${test.id}/void`, { json: { reason: "x" } })).status).toBe(404);
    expect((await listEnvelopes(appliance, { q: "Only a test" })).data).toEqual([]);
    expect((await listEnvelopes(appliance, { q: "Only a test", testMode: "true" })).data).toEqual([]);
    expect((await listEnvelopes(appliance, { q: "Only a test" }, { key: "test" })).data).toHaveLength(1);
    // test_mode in the query changes nothing for a key.
    const { body } = await appliance.json("/v1/envelopes?test_mode=true", { json: envelopeInput(template) });
    expect(body).toMatchObject({ testMode: false });
  });

  it("asks for the permission of each operation", async () => {
    const key = { bearer: await appliance.createKey("live", ["envelope:read"]) };
    expect(await problemOf(appliance, "/v1/envelopes", { key, json: {} })).toMatchObject({
      status: 403,
      permission: "envelope:send",
    });
    const { id } = await createEnvelope(appliance, template);
    expect(await problemOf(appliance, `/v1/envelopes/${id}/void`, { key, json: {} })).toMatchObject({
      permission: "envelope:void",
    });
    expect((await appliance.call(`/v1/envelopes/${id}`, { key })).status).toBe(200);
  });
});

describe("the list", () => {
  it("pages newest first, without gaps or repeats", async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      made.unshift((await createEnvelope(appliance, template, { title: `Page me ${index}` })).id);
    }
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof listEnvelopes>> = await listEnvelopes(appliance, {
        q: "page ME",
        limit: "2",
        ...(cursor ? { cursor } : {}),
      });
      seen.push(...page.data.map(({ id }) => id));
      expect(page.hasMore).toBe(page.nextCursor !== null);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(made);
    expect(await problemOf(appliance, "/v1/envelopes?cursor=abc", {})).toMatchObject({
      status: 422,
      errors: [{ parameter: "cursor" }],
    });
    expect(await problemOf(appliance, "/v1/envelopes?limit=101&status=lost", {})).toMatchObject({ status: 422 });
  });

  it("finds by title, externalId, id and people, whatever the case, and takes wildcards literally", async () => {
    const { id } = await createEnvelope(appliance, template, {
      title: "Straße 100%_wahr",
      externalId: "Vertrag-Ü9",
      recipients: [
        { role: "tenant", name: "Zoë Ångström", email: "zoe@search.example" },
        { role: "landlord", name: "Ben", email: "ben@example.com" },
      ],
    });
    for (const q of ["straße 100%_", "vertrag-ü9", id, "ZOË ÅNG", "zoe@SEARCH"]) {
      expect((await listEnvelopes(appliance, { q })).data.map((one) => one.id)).toEqual([id]);
    }
    expect((await listEnvelopes(appliance, { q: "100_" })).data).toEqual([]);
    const [listed] = (await listEnvelopes(appliance, { q: id })).data;
    expect(listed).not.toHaveProperty("viewers");
    expect(listed).not.toHaveProperty("values");
  });

  it("filters by status, seal and template", async () => {
    const own = await publishTemplate(appliance);
    const one = await sentEnvelope(appliance, own);
    const two = await sentEnvelope(appliance, own);
    await appliance.json(`/v1/envelopes/${two.id}/void`, { json: { reason: "enough" } });
    const ids = async (query: Record<string, string>) =>
      (await listEnvelopes(appliance, { template: own, ...query })).data.map(({ id }) => id);
    expect(await ids({})).toEqual([two.id, one.id]);
    expect(await ids({ status: "voided" })).toEqual([two.id]);
    expect(await ids({ status: "sent", seal: "not_started" })).toEqual([one.id]);
    expect(await ids({ seal: "sealed" })).toEqual([]);
  });
});

describe("the document", () => {
  it("is served with ETag, Range and HEAD, and later versions when they exist", async () => {
    const { id, documentSha256 } = await sentEnvelope(appliance, template, { title: "Miete: Nr. 7/8" });
    const whole = await appliance.call(`/v1/envelopes/${id}/document`);
    const bytes = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get("content-type")).toBe("application/pdf");
    expect(whole.headers.get("content-disposition")).toContain('filename="Miete Nr. 7 8.pdf"');
    expect(whole.headers.get("etag")).toBe(`"${documentSha256}"`);
    expect(createHash("sha256").update(bytes).digest("hex")).toBe(documentSha256);

    const part = await appliance.call(`/v1/envelopes/${id}/document`, { headers: { range: "bytes=0-4" } });
    expect(part.status).toBe(206);
    expect(await part.text()).toBe("%PDF-");
    const head = await appliance.call(`/v1/envelopes/${id}/document?version=original`, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(bytes.length));
    const known = await appliance.call(`/v1/envelopes/${id}/document`, {
      headers: { "if-none-match": `"${documentSha256}"` },
    });
    expect(known.status).toBe(304);

    for (const version of ["sealed", "certificate"]) {
      const problem = await problemOf(appliance, `/v1/envelopes/${id}/document?version=${version}`, {});
      expect(problem).toMatchObject({ status: 409, code: "document-not-ready", retryAfter: 5 });
      expect(problem.headers.get("retry-after")).toBe("5");
    }
    expect((await appliance.call(`/v1/envelopes/${id}/document?version=draft`)).status).toBe(422);
  });
});
