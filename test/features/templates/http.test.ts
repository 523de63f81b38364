import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createApiKey, createOrganization } from "../../../server/features/identity/service.ts";
import { SaveTemplateDraft, TemplateFile, TemplateVersion } from "../../../server/features/templates/contract.ts";
import { saveDraft } from "../../../server/features/templates/drafts.ts";
import { uploadFile } from "../../../server/features/templates/files.ts";
import { markTemplateUsed, publishedVersion, templateById } from "../../../server/features/templates/service.ts";
import { canonicalize } from "../../../server/kernel/canonical.ts";
import { Problem } from "../../../server/kernel/problem.ts";
import { docx, pdf, permissions } from "../../../server/kernel/wire.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { samplePdf, withFile } from "../../harness/pdfs.ts";

let appliance: TestAppliance;
let document: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  appliance = await startAppliance();
  document = new Uint8Array(await samplePdf({ pages: 2 }));
});
afterAll(() => appliance.stop());

const Created = z.object({ id: z.string() });
const Page = z.object({ data: z.array(Created), hasMore: z.boolean(), nextCursor: z.string().nullable() });

async function newTemplate(body: object = { name: "Agreement" }): Promise<string> {
  const { status, body: made } = await appliance.json("/v1/templates", { json: body });
  expect(status).toBe(201);
  return Created.parse(made).id;
}

async function upload(template: string, bytes: Uint8Array<ArrayBuffer> = document): Promise<TemplateFile> {
  const { status, body } = await appliance.json(`/v1/templates/${template}/files`, {
    body: bytes,
    headers: { "content-type": pdf, "content-disposition": `attachment; filename="agreement.pdf"` },
  });
  expect(status).toBe(201);
  return TemplateFile.parse(body);
}

const box = { page: 1, x: 50, y: 200, width: 200, height: 20 };
const draftOf = (file: string, members: object = {}) => ({
  content: {
    mode: "overlay",
    file,
    items: [
      { id: "t1", type: "text", text: "Contract with {{company}}", ...box, y: 100, width: 400 },
      { id: "sign", type: "signature", role: "signer", ...box, page: 2 },
      { id: "comment", type: "text_input", role: "signer", required: false, label: "Your comment", ...box },
    ],
  },
  roles: [{ name: "signer" }],
  variables: [{ name: "company", label: "Company name" }],
  ...members,
});

async function save(template: string, draft: object, headers: Record<string, string> = {}) {
  return await appliance.json(`/v1/templates/${template}/draft`, { method: "PUT", json: draft, headers });
}

async function published(members: object = {}): Promise<{ template: string; file: TemplateFile }> {
  const template = await newTemplate();
  const file = await upload(template);
  expect((await save(template, draftOf(file.id, members))).status).toBe(200);
  const { status } = await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
  expect(status).toBe(201);
  return { template, file };
}

const problem = (body: unknown) => Problem.parse(body);
const pointers = (body: unknown) =>
  (problem(body).errors ?? []).map((error) => ["pointer" in error ? error.pointer : null, error.code]);
const textOf = (bytes: Uint8Array) =>
  withFile(bytes, (path) => execFileSync("pdftotext", ["-layout", path, "-"]).toString("utf8"));
const fetchPdf = async (path: string, options: object = {}) => {
  const response = await appliance.call(path, options);
  expect(
    response.status,
    await response
      .clone()
      .text()
      .then((text) => text.slice(0, 300)),
  ).toBe(200);
  expect(response.headers.get("content-type")).toBe(pdf);
  return new Uint8Array(await response.arrayBuffer());
};

describe("the life of a template", () => {
  test("from its creation to its versions", async () => {
    const template = await newTemplate({ name: "Rental", description: "Flats", metadata: { team: "north" } });
    const file = await upload(template);
    expect(file).toMatchObject({
      template,
      filename: "agreement.pdf",
      pageCount: 2,
      sourceType: pdf,
      hasFormFields: false,
    });
    expect(file.sourceSha256).toBe(createHash("sha256").update(document).digest("hex"));
    expect(file.pages[0]).toEqual({ page: 1, width: 595, height: 842, rotation: 0 });

    const saved = await save(template, { ...draftOf(file.id), name: "Rental agreement" });
    const draft = TemplateVersion.parse(saved.body);
    expect(draft).toMatchObject({ version: null, status: "draft", pageCount: 2, publishedAt: null });
    const { mode, content, roles, variables, settings } = draft;
    const hashed = JSON.parse(JSON.stringify({ mode, content, roles, variables, settings, fileSha256: file.sha256 }));
    expect(draft.contentHash).toBe(createHash("sha256").update(canonicalize(hashed)).digest("hex"));
    expect((await appliance.json(`/v1/templates/${template}`)).body).toMatchObject({
      name: "Rental agreement",
      hasDraft: true,
      latestVersion: null,
      roles: ["signer"],
    });

    const made = await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ version: 1, status: "published", contentHash: draft.contentHash, content });
    const again = await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
    expect([again.status, problem(again.body).code]).toEqual([409, "draft-missing"]);

    await save(template, draftOf(file.id, { roles: [{ name: "signer" }, { name: "landlord" }] }));
    await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
    await save(template, draftOf(file.id));
    const versions = `/v1/templates/${template}/versions`;
    const all = z.object({ data: z.array(TemplateVersion) }).parse((await appliance.json(versions)).body);
    expect(all.data.map(({ version }) => version)).toEqual([null, 2, 1]);
    expect((await appliance.json(`${versions}/latest`)).body).toEqual(all.data[1]);
    expect((await appliance.json(`${versions}/1`)).body).toEqual(all.data[2]);
    expect((await appliance.json(`${versions}/draft`)).body).toEqual(all.data[0]);
    expect((await appliance.json(`/v1/templates/${template}`)).body).toMatchObject({
      latestVersion: 2,
      roles: ["signer", "landlord"],
    });

    const seen: (number | null)[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: unknown = (await appliance.json(`${versions}?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`))
        .body;
      const parsed = z.object({ data: z.array(TemplateVersion), nextCursor: z.string().nullable() }).parse(page);
      seen.push(...parsed.data.map(({ version }) => version));
      cursor = parsed.nextCursor;
    }
    expect(seen).toEqual([null, 2, 1]);
  });

  test.each(["0", "01", "3", "-1", "1.0", "newest", "draft", "latest", "99999999999999999999"])(
    "version %s of an empty template does not exist",
    async (version) => {
      const template = await newTemplate();
      for (const path of ["", "/document"]) {
        const { status, body } = await appliance.json(`/v1/templates/${template}/versions/${version}${path}`);
        expect([status, problem(body).code]).toEqual([404, "not-found"]);
      }
    },
  );

  test("it can be deleted until it was used", async () => {
    const { template } = await published();
    const path = `/v1/templates/${template}`;
    await appliance.deps.db.tx((tx) => markTemplateUsed(tx, template));
    const refused = await appliance.json(path, { method: "DELETE" });
    expect([refused.status, problem(refused.body).code]).toEqual([409, "template-in-use"]);
    expect((await appliance.json(path)).body).toMatchObject({ inUse: true });

    const other = (await published()).template;
    expect((await appliance.call(`/v1/templates/${other}`, { method: "DELETE" })).status).toBe(204);
    expect((await appliance.call(`/v1/templates/${other}`)).status).toBe(404);
    await expect(appliance.deps.db.tx((tx) => markTemplateUsed(tx, other))).rejects.toThrow(/not found/);
  });

  test("the list is searched by name and id and paged by cursor", async () => {
    const ids: string[] = [];
    for (const name of ["Zebra ÄÖ 100%", "zebra two", "ZEBRA three"]) ids.unshift(await newTemplate({ name }));
    const list = async (query: string) => Page.parse((await appliance.json(`/v1/templates?${query}`)).body);
    expect((await list("q=zEbRa")).data.map(({ id }) => id)).toEqual(ids);
    expect((await list(`q=${encodeURIComponent("äö")}`)).data.map(({ id }) => id)).toEqual([ids[2]]);
    expect((await list("q=100%25")).data).toHaveLength(1);
    expect((await list("q=_ebra")).data).toHaveLength(0);
    expect((await list(`q=${ids[1]}`)).data.map(({ id }) => id)).toEqual([ids[1]]);
    const first = await list("q=zebra&limit=2");
    expect(first.hasMore).toBe(true);
    const second = await list(`q=zebra&limit=2&cursor=${first.nextCursor}`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect(second).toMatchObject({ hasMore: false, nextCursor: null });
    const bad = await appliance.json("/v1/templates?cursor=nonsense");
    expect([bad.status, problem(bad.body).errors]).toMatchObject([422, [{ parameter: "cursor" }]]);
  });
});

describe("who may", () => {
  test("another organization finds nothing, and a scope is needed", async () => {
    const { template } = await published();
    const actor = { type: "user" as const, id: "usr_x", name: "X", email: "x@other.example" };
    const other = await createOrganization(appliance.deps, {
      name: "Other",
      owner: { email: "x@other.example", name: "X", password: null },
    });
    const made = { name: "k", mode: "live" as const };
    const { key } = await createApiKey(appliance.deps, other.organization, actor, new Set(permissions), made);
    const stranger = { key: { bearer: key } };
    for (const [path, options] of [
      ["", {}],
      ["", { method: "DELETE" }],
      ["/files", { body: document, headers: { "content-type": pdf } }],
      ["/draft", { method: "PUT", json: {} }],
      ["/publish", { method: "POST" }],
      ["/versions", {}],
      ["/versions/1", {}],
      ["/versions/1/document", {}],
      ["/versions/1/render", { json: {} }],
    ] as const) {
      expect((await appliance.call(`/v1/templates/${template}${path}`, { ...stranger, ...options })).status).toBe(404);
    }
    expect(Page.parse((await appliance.json("/v1/templates", stranger)).body).data).toEqual([]);
    await expect(
      publishedVersion(appliance.deps, appliance.deps.db.read, other.organization, template, "latest"),
    ).rejects.toMatchObject({ reason: "template-not-found" });

    const reader = { key: { bearer: await appliance.createKey("test", ["template:read"]) } };
    expect((await appliance.call(`/v1/templates/${template}`, reader)).status).toBe(200);
    const refused = await appliance.json("/v1/templates", { ...reader, json: { name: "x" } });
    expect([refused.status, problem(refused.body).permission]).toEqual([403, "template:write"]);
  });
});

describe("uploads", () => {
  const send = async (body: BodyInit, type: string, path = "files") => {
    const template = await newTemplate();
    const options = { body, headers: { "content-type": type } };
    const { status, body: answer } = await appliance.json(`/v1/templates/${template}/${path}`, options);
    return { status, problem: problem(answer) };
  };

  test("Word files are told when they come, other types what is taken", async () => {
    const word = await send("PK", docx);
    expect(word).toMatchObject({ status: 415, problem: { code: "unsupported-media-type" } });
    expect(word.problem.detail).toMatch(/later version/);
    expect(await send("PK", docx, "import")).toMatchObject({
      status: 415,
      problem: { detail: expect.stringMatching(/later version/) },
    });
    expect(await send("x", "text/plain")).toMatchObject({ status: 415 });
    expect(await send(document, pdf, "import")).toMatchObject({ status: 415 });
  });

  test.each([
    ["a text file", () => new TextEncoder().encode("hello")],
    ["an empty body", () => new Uint8Array()],
    ["a PDF cut short before its pages", () => document.slice(0, 60)],
    ["an encrypted PDF", () => encrypted(document)],
  ])("%s is refused with the reason", async (_name, bytes) => {
    const answer = await send(bytes(), pdf);
    expect(answer).toMatchObject({ status: 422, problem: { code: "invalid-document" } });
    expect(answer.problem.errors?.[0]?.detail).toMatch(/^[A-Z].*\.$/);
  });

  test("more than 25 MB are refused", async () => {
    const answer = await send(new Uint8Array(25 * 1024 * 1024 + 1), pdf);
    expect(answer).toMatchObject({ status: 413, problem: { code: "payload-too-large" } });
  });
});

function encrypted(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return withFile(bytes, (path, folder) => {
    execFileSync("qpdf", ["--encrypt", "secret", "owner", "256", "--", path, `${folder}/out.pdf`]);
    return new Uint8Array(execFileSync("cat", [`${folder}/out.pdf`]));
  });
}

describe("drafts", () => {
  test("a lost update is refused, the tag of the present draft is accepted", async () => {
    const template = await newTemplate();
    const file = await upload(template);
    const none = await save(template, draftOf(file.id), { "if-match": "*" });
    expect([none.status, problem(none.body).code]).toEqual([412, "precondition-failed"]);
    const first = (await save(template, draftOf(file.id))).headers.get("etag") ?? "";
    const read = await appliance.call(`/v1/templates/${template}/versions/draft`);
    expect(read.headers.get("etag")).toBe(first);
    const changed = draftOf(file.id, { roles: [{ name: "signer", label: "You" }] });
    expect((await save(template, changed, { "if-match": first })).status).toBe(200);
    expect((await save(template, draftOf(file.id), { "if-match": first })).status).toBe(412);
    expect((await save(template, draftOf(file.id), { "if-match": `"other", *` })).status).toBe(200);
  });

  test("only the form is checked, every error with its pointer", async () => {
    const template = await newTemplate();
    expect((await save(template, draftOf("tfl_unknown", { roles: [], variables: [] }))).status).toBe(200);
    const items = [
      { id: "a", type: "text", text: 5, ...box },
      { id: "1bad", type: "signature", role: "r", ...box },
      { id: "b", type: "image", data: "data:image/gif;base64,AAAA", ...box },
      { id: "c", type: "signature", role: "r", ...box, extra: 1 },
      { id: "d", type: "unheard-of", ...box },
    ];
    const answer = await save(template, {
      content: { mode: "overlay", file: "x", items },
      roles: [{}],
      variables: [],
      more: 1,
    });
    expect(answer.status).toBe(422);
    expect(pointers(answer.body)).toEqual([
      ["#/content/items/0/text", "type"],
      ["#/content/items/1/id", "pattern"],
      ["#/content/items/2/data", "pattern"],
      ["#/content/items/3/extra", "unknown"],
      ["#/content/items/4/type", "enum"],
      ["#/roles/0/name", "required"],
      ["#/more", "unknown"],
    ]);
  });

  test("rows of a list hold what they like in columns of any name, but control characters", async () => {
    const template = await newTemplate();
    const names = ["name", "role", "label", "title"];
    const columns = names.map((name) => ({ name, type: "text" }));
    const draft = (row: Record<string, string>) =>
      draftOf("tfl_unknown", { variables: [{ name: "parties", type: "list", columns, default: [row] }] });
    const row = { name: "", role: " ", label: "two\nlines", title: "" };
    const saved = await save(template, draft(row));
    expect([saved.status, saved.body]).toMatchObject([200, { variables: [{ default: [row] }] }]);
    const refused = await save(template, draft({ ...row, label: "a\u0007b" }));
    expect(pointers(refused.body)).toEqual([["#/variables/0/default/0/label", "pattern"]]);
  });

  test("text that is not Unicode, the other mode and too much are refused", async () => {
    const template = await newTemplate();
    const wild = await appliance.json(`/v1/templates/${template}/draft`, {
      method: "PUT",
      body: JSON.stringify(draftOf("x", { roles: [{ name: "r", label: "LONE" }] })).replace("LONE", "\\ud800"),
      headers: { "content-type": "application/json" },
    });
    expect([wild.status, problem(wild.body).code]).toEqual([400, "malformed-request"]);
    const page = { size: "A4", orientation: "portrait", margins: { top: 1, right: 1, bottom: 1, left: 1 } };
    const body = { type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text: "Hi" }] }] };
    const font = { family: "Noto Sans", size: 11, lineHeight: 1.4 };
    const content = { mode: "document", body, header: null, footer: null, page, font, fields: [] };
    const other = await save(template, { content, roles: [], variables: [] });
    expect(pointers(other.body)).toEqual([["#/content/mode", "conflict"]]);
    const text = { id: "t", type: "text", text: "x".repeat(20_000), ...box };
    const many = Array.from({ length: 300 }, (_, n) => ({ ...text, id: `t${n}` }));
    expect(
      (await save(template, { ...draftOf("x"), content: { mode: "overlay", file: "x", items: many } })).status,
    ).toBe(413);

    const documentMode = await newTemplate({ name: "Doc", mode: "document" });
    expect((await save(documentMode, { content, roles: [{ name: "r" }], variables: [] })).status).toBe(200);
    const publish = await appliance.json(`/v1/templates/${documentMode}/publish`, { method: "POST" });
    expect([publish.status, problem(publish.body).code]).toEqual([422, "render-failed"]);
    expect((await appliance.call(`/v1/templates/${documentMode}/versions/draft/document`)).status).toBe(409);
  });
});

test("publishing names everything that is wrong, in the order of the draft", async () => {
  const template = await newTemplate();
  const file = await upload(template);
  const items = [
    { id: "t", type: "text", text: "{{company}} {{nobody}}", group: "g", ...box },
    { id: "w", type: "whiteout", group: "h", ...box, x: 500 },
    { id: "t", type: "signature", role: "ghost", ...box, page: 9 },
    { id: "n", type: "number", role: "signer", min: 5, max: 1, default: 9, ...box },
    { id: "f", type: "formula", role: "signer", expression: "n + t + (", ...box },
    { id: "f2", type: "formula", role: "signer", expression: "n + t + gone", ...box },
    { id: "p", type: "text_input", role: "signer", pattern: "(a)\\1", cells: 3, multiline: true, ...box },
    { id: "v", type: "checkbox", role: "signer", visibleWhen: { field: "v", in: [true] }, ...box },
    {
      id: "r",
      type: "radio",
      role: "signer",
      options: [{ value: "a" }, { value: "a", box: { ...box, y: 840 } }],
      default: "z",
      ...box,
    },
    { id: "d", type: "date", role: "signer", format: "dd-mm", ...box },
    { id: "i", type: "image", data: "data:image/png;base64,AAAA", ...box },
  ];
  const draft = {
    content: { mode: "overlay", file: file.id, items },
    roles: [
      { name: "signer", kind: "countersigner" },
      { name: "signer", kind: "countersigner", countersigner: { name: "C", email: "c@example.com" } },
    ],
    variables: [
      { name: "company", type: "number", default: "x", format: "wide" },
      { name: "rows", type: "list" },
    ],
  };
  expect((await save(template, draft)).status).toBe(200);
  const answer = await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
  expect(answer.status).toBe(422);
  expect(problem(answer.body).code).toBe("validation-failed");
  expect(pointers(answer.body)).toEqual([
    ["#/content/items/0/text", "reference"],
    ["#/content/items/0/group", "conflict"],
    ["#/content/items/1/group", "conflict"],
    ["#/content/items/1/width", "max"],
    ["#/content/items/2/id", "duplicate"],
    ["#/content/items/2/role", "reference"],
    ["#/content/items/2/page", "reference"],
    ["#/content/items/3/min", "conflict"],
    ["#/content/items/3/default", "max"],
    ["#/content/items/4/expression", "format"],
    ["#/content/items/5/expression", "reference"],
    ["#/content/items/5/expression", "reference"],
    ["#/content/items/6/cells", "conflict"],
    ["#/content/items/6/pattern", "pattern"],
    ["#/content/items/7/visibleWhen/field", "reference"],
    ["#/content/items/8/options/1/value", "duplicate"],
    ["#/content/items/8/default", "enum"],
    ["#/content/items/8/options/1/box/height", "max"],
    ["#/content/items/9/format", "format"],
    ["#/content/items/10/data", "format"],
    ["#/roles", "min"],
    ["#/roles/0/countersigner", "required"],
    ["#/roles/1/name", "duplicate"],
    ["#/variables/0/default", "type"],
    ["#/variables/0/format", "format"],
    ["#/variables/1/columns", "required"],
  ]);

  const stranger = await upload(await newTemplate());
  await save(template, draftOf(stranger.id));
  const foreign = await appliance.json(`/v1/templates/${template}/publish`, { method: "POST" });
  expect([foreign.status, pointers(foreign.body)]).toEqual([422, [["#/content/file", "reference"]]]);
});

describe("documents", () => {
  test("a draft gives the upload, edited and published ones what is drawn over it", async () => {
    const { template, file } = await published();
    await save(template, draftOf(file.id));
    const path = `/v1/templates/${template}/versions`;
    expect(await fetchPdf(`${path}/draft/document`)).toEqual(document);
    const edited = await fetchPdf(`${path}/draft/document?edited=true`);
    expect(textOf(edited)).toContain("Contract with {{company}}");
    expect(edited.subarray(0, document.length)).toEqual(document);
    expect(textOf(await fetchPdf(`${path}/1/document`))).toContain("Contract with {{company}}");
    const plain = await appliance.call(`${path}/latest/document`);
    const etag = plain.headers.get("etag") ?? "";
    await plain.arrayBuffer();
    const repeat = await appliance.call(`${path}/latest/document`, { headers: { "if-none-match": etag } });
    expect([etag.length > 60, repeat.status]).toEqual([true, 304]);
    expect((await appliance.call(`${path}/latest/document?edited=maybe`)).status).toBe(422);
  });

  test("a preview fills in what it is given, outlines the rest and says that it is one", async () => {
    const { template } = await published();
    const path = `/v1/templates/${template}/versions/latest/render`;
    const given = { variables: { company: "Ünïcode GmbH" }, values: { signer: { comment: "Fine with me" } } };
    const filled = textOf(await fetchPdf(path, { json: given }));
    expect(filled).toContain("Contract with Ünïcode GmbH");
    expect(filled).toContain("Fine with me");
    // The watermark runs across the page, so its letters come out in steps.
    expect(filled.match(/PR|EV|IE|W/g)?.length).toBeGreaterThanOrEqual(4);
    const empty = textOf(await fetchPdf(path, { method: "POST" }));
    expect(empty).toContain("Contract with [Company name]");
    expect(empty).toContain("Your comment");
  });

  // RFC 9110 §14.2: a range is of what a GET reads, and described for nothing else.
  test("a preview is sent whole, whatever part of it is asked for", async () => {
    const { template } = await published();
    const path = `/v1/templates/${template}/versions/latest/render`;
    for (const range of ["bytes=0-4", "bytes=99999999-"]) {
      const answer = await appliance.call(path, { method: "POST", headers: { range, "if-none-match": "*" } });
      expect([answer.status, answer.headers.get("accept-ranges")]).toEqual([200, null]);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1000);
    }
  });

  test("a preview refuses what has the wrong type or nobody knows", async () => {
    const { template } = await published();
    const answer = await appliance.json(`/v1/templates/${template}/versions/1/render`, {
      json: { variables: { company: 5 }, values: { signer: { comment: 7, sign: "x", gone: 1 }, ghost: {} } },
    });
    expect(answer.status).toBe(422);
    expect(pointers(answer.body)).toEqual([
      ["#/variables/company", "type"],
      ["#/values/signer/comment", "type"],
      ["#/values/signer/sign", "conflict"],
      ["#/values/signer/gone", "reference"],
      ["#/values/ghost", "reference"],
    ]);
    await save(template, draftOf("tfl_gone"));
    const draft = await appliance.json(`/v1/templates/${template}/versions/draft/render`, { json: {} });
    expect([draft.status, problem(draft.body).code]).toEqual([422, "render-failed"]);
    expect((await appliance.call(`/v1/templates/${template}/versions/draft/document`)).status).toBe(409);
  });
});

test("two publications of one draft give one version", async () => {
  const template = await newTemplate();
  const file = await upload(template);
  await save(template, draftOf(file.id));
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => appliance.call(`/v1/templates/${template}/publish`, { method: "POST" })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
});

test("what was being saved when its template was deleted finds no template", async () => {
  const { organization, deps } = appliance;
  const id = await newTemplate();
  const file = await upload(id);
  const row = await templateById(deps.db.read, organization, id);
  expect((await appliance.call(`/v1/templates/${id}`, { method: "DELETE" })).status).toBe(204);
  // Both looked at the template before they began to work.
  const uploading = uploadFile(deps, id, { contentType: pdf, filename: null, bytes: document }, null);
  await expect(uploading).rejects.toMatchObject({ code: "not-found" });
  const saving = saveDraft(deps, row, SaveTemplateDraft.parse(draftOf(file.id)), null);
  await expect(saving).rejects.toMatchObject({ code: "not-found" });
});
