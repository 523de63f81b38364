import { describe, expect, test } from "vitest";
import { createDraftStore } from "../../apps/dashboard/src/features/templates/draft-store.ts";
import { explain } from "../../apps/dashboard/src/features/templates/explain.ts";
import {
  addItem,
  addRole,
  addVariable,
  changeItem,
  changeRole,
  changeVariable,
  type Draft,
  inReadingOrder,
  inside,
  removeRole,
  savedBody,
} from "../../apps/dashboard/src/features/templates/model.ts";
import { attentionOf, needingAttention } from "../../apps/dashboard/src/features/welcome/attention.ts";
import { ProblemResponse } from "../../apps/shared/api/client.ts";
import { Envelope } from "../../server/features/envelopes/contract.ts";
import {
  defaultSettings,
  Role,
  SaveTemplateDraft as SaveSchema,
  type SaveTemplateDraft,
  type TemplateVersion,
} from "../../server/features/templates/contract.ts";

/** What the dashboard decides about templates by itself: edits, saving, explanations. */

const page = { page: 1, width: 595, height: 842 };
const empty: Draft = {
  name: "Lease",
  file: "tfl_1",
  items: [],
  roles: [Role.parse({ name: "Tenant" })],
  variables: [],
  settings: defaultSettings,
};
const put = (draft: Draft, type: Parameters<typeof addItem>[1], x = 300, y = 400) =>
  addItem(draft, type, { at: { page: 1, x, y }, role: "Tenant", page, text: "Text" }).draft;

describe("edits of a draft", () => {
  test("place items around the point, inside the page, under ids of their own", () => {
    const draft = put(put(put(empty, "signature"), "signature", 590, 840), "text", 0, 0);
    expect(draft.items.map(({ id, x, y }) => [id, x, y])).toEqual([
      ["signature-1", 210, 378],
      ["signature-2", 415, 798],
      ["text-1", 0, 0],
    ]);
    expect(inReadingOrder(draft.items).map(({ id }) => id)).toEqual(["text-1", "signature-1", "signature-2"]);
    expect(SaveSchema.safeParse(savedBody(draft)).success).toBe(true);
    expect(inside({ page: 1, x: -5, y: 900, width: 900, height: 2 }, page)).toEqual({
      page: 1,
      x: 0,
      y: 838,
      width: 595,
      height: 4,
    });
  });

  test("keep a draft that the service would take: what is not valid changes nothing", () => {
    const draft = put(empty, "text_input");
    expect(changeItem(draft, "text_input-1", { label: "Street" }).items[0]).toMatchObject({ label: "Street" });
    expect(changeItem(draft, "text_input-1", { width: -1 })).toBe(draft);
    expect(changeItem(draft, "nobody", { x: 1 })).toBe(draft);
    const two = addRole(draft, "Tenant");
    expect(two.roles.map(({ name, order }) => [name, order])).toEqual([
      ["Tenant", 1],
      ["Tenant 2", 2],
    ]);
    expect(changeRole(two, 1, { name: "Tenant" })).toBe(two);
    expect(changeRole(two, 0, { name: "" })).toBe(two);
  });

  test("carry names along: fields follow their role, texts their variable", () => {
    const renamed = changeRole(put(empty, "signature"), 0, { name: "Client" });
    expect(renamed.items[0]).toMatchObject({ role: "Client" });
    expect(removeRole(renamed, 0)).toMatchObject({ roles: [], items: [] });
    const text = changeItem(put(addVariable(empty, "v"), "text"), "text-1", {
      text: "{{v1}} and {{ v1 }} not {{v12}}",
    });
    expect(changeVariable(text, 0, { name: "rent" }).items[0]).toMatchObject({
      text: "{{rent}} and {{rent}} not {{v12}}",
    });
  });
});

/** A service whose answers are given by hand. */
function service(initial = "a", now = () => 0) {
  const calls: { body: SaveTemplateDraft; ifMatch: string | null; answer: (hash: string | Error) => void }[] = [];
  let told = () => {};
  const called = () => new Promise<void>((resolve) => (told = resolve));
  const store = createDraftStore({
    draft: empty,
    contentHash: initial,
    pauseMs: 1,
    now,
    send: (body, ifMatch) =>
      new Promise((resolve, reject) => {
        calls.push({
          body,
          ifMatch,
          answer: (hash) => (hash instanceof Error ? reject(hash) : resolve(versionOf(body, hash))),
        });
        told();
      }),
  });
  const status = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (store.snapshot().status === wanted) resolve();
      };
      store.subscribe(look);
      look();
    });
  return { calls, called, store, status };
}

const at = "2026-11-21T09:10:00.000Z";
const versionOf = (body: SaveTemplateDraft, contentHash: string): TemplateVersion => ({
  template: "tpl_1",
  version: null,
  status: "draft",
  mode: "overlay",
  content: body.content,
  roles: body.roles,
  variables: body.variables,
  settings: defaultSettings,
  pageCount: 1,
  warnings: [],
  contentHash,
  createdAt: at,
  updatedAt: at,
  publishedAt: null,
  publishedBy: null,
});

function refusal(code: "precondition-failed" | "validation-failed", status: number): ProblemResponse {
  const instance = "/v1/templates/{id}/draft";
  return new ProblemResponse({ type: "x", title: "t", status, detail: "d", code, instance, requestId: "req_1" });
}

const rename = (name: string) => (draft: Draft) => ({ ...draft, name });

describe("keeping a draft", () => {
  test("saves a moment after an edit, one at a time, each upon the one before", async () => {
    const { calls, called, store, status } = service();
    store.edit(rename("b"));
    expect(store.snapshot().status).toBe("unsaved");
    await called();
    expect(calls[0]).toMatchObject({ ifMatch: '"a"', body: { name: "b" } });
    store.edit(rename("c"));
    expect(calls).toHaveLength(1);
    const second = called();
    calls[0]?.answer("hash-b");
    await second;
    expect(calls[1]).toMatchObject({ ifMatch: '"hash-b"', body: { name: "c" } });
    calls[1]?.answer("hash-c");
    await status("saved");
    expect(await store.save()).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test("stops at somebody else's change until the person decides", async () => {
    const { calls, called, store, status } = service();
    store.edit(rename("b"));
    await called();
    calls[0]?.answer(refusal("precondition-failed", 412));
    await status("conflict");
    // Nothing can be edited before one of the two is chosen.
    store.edit(rename("c"));
    store.undo();
    expect(store.snapshot().draft.name).toBe("b");
    expect(await store.save()).toBe(false);
    expect(calls).toHaveLength(1);
    const overwritten = store.overwrite();
    expect(calls[1]).toMatchObject({ ifMatch: null, body: { name: "b" } });
    calls[1]?.answer("hash-b");
    expect(await overwritten).toBe(true);
    await status("saved");
  });

  test("says that a save failed and tries again with the next edit", async () => {
    const { calls, called, store, status } = service();
    store.edit(rename("b"));
    await called();
    calls[0]?.answer(refusal("validation-failed", 422));
    await status("failed");
    const next = called();
    store.edit(rename("c"));
    await next;
    calls[1]?.answer("hash-c");
    await status("saved");
    expect(store.snapshot().error).toBeNull();
  });

  test("undoes and does again, edits of one kind in one step", () => {
    const { store } = service();
    store.edit(rename("b"));
    store.edit(rename("c"), "typing");
    store.edit(rename("d"), "typing");
    store.undo();
    expect(store.snapshot().draft.name).toBe("b");
    store.undo();
    expect(store.snapshot()).toMatchObject({ draft: { name: "Lease" }, canUndo: false, canRedo: true });
    store.redo();
    store.redo();
    expect(store.snapshot().draft.name).toBe("d");
    store.undo();
    store.edit(rename("e"));
    expect(store.snapshot().canRedo).toBe(false);
    store.stop();
  });

  test("undoes to the very beginning, and a pause between edits of one kind is a step of its own", () => {
    let at = 0;
    const { store } = service("a", () => at);
    for (let step = 0; step < 1000; step += 1) store.edit(rename(`b${step}`));
    for (let step = 0; step < 1000; step += 1) store.undo();
    expect(store.snapshot()).toMatchObject({ draft: { name: "Lease" }, canUndo: false });
    store.edit(rename("c"), "move");
    at += 5000;
    store.edit(rename("d"), "move");
    store.undo();
    expect(store.snapshot().draft.name).toBe("c");
    store.stop();
  });
});

test("errors of the service find what they are about", () => {
  const draft = { ...put(empty, "signature"), variables: addVariable(empty, "v").variables };
  const places = explain(
    [
      "#/content/items/0/width",
      "#/content/items/9",
      "#/content/file",
      "#/roles/0/name",
      "#/roles",
      "#/variables/0",
      "#",
    ].map((pointer) => ({ pointer, code: "max" as const, detail: "d" })),
    draft,
  ).map(({ place }) => place.kind);
  expect(places).toEqual(["item", "draft", "file", "role", "roles", "variable", "draft"]);
});

describe("attention", () => {
  const now = Date.parse("2026-11-21T12:00:00.000Z");
  const days = (count: number) => new Date(now + count * 86_400_000).toISOString();
  const envelope = (id: string, members: object) =>
    Envelope.parse({
      id,
      status: "sent",
      seal: "not_started",
      recipients: [],
      externalId: null,
      metadata: {},
      testMode: false,
      expiresAt: null,
      reminders: null,
      viewerDocumentAccess: false,
      locale: "en",
      title: id,
      message: null,
      template: "tpl_1",
      templateVersion: 1,
      cc: [],
      source: "api",
      signingLink: null,
      createdBy: { type: "user", id: null, name: null, email: null },
      pageCount: null,
      documentSha256: null,
      sealedSha256: null,
      sealLevel: null,
      anchorSequence: null,
      voidReason: null,
      declinedBy: null,
      declinedReason: null,
      failure: null,
      createdAt: at,
      updatedAt: at,
      sentAt: null,
      completedAt: null,
      declinedAt: null,
      voidedAt: null,
      expiredAt: null,
      sealedAt: null,
      ...members,
    });
  const failure = { stage: "seal", code: "x", message: "m", at: days(-1) };

  test("is asked for what is stuck, undelivered, declined or expiring, the most urgent first", () => {
    const list = [
      envelope("fine", { expiresAt: days(10) }),
      envelope("soon", { expiresAt: days(2) }),
      envelope("declined", { status: "declined", declinedAt: days(-2) }),
      envelope("old", { status: "declined", declinedAt: days(-30) }),
      envelope("stuck", { status: "completed", seal: "pending", failure }),
    ];
    expect(needingAttention([...list, ...list], now).map(({ envelope: { id }, reason }) => [id, reason])).toEqual([
      ["stuck", "stuck"],
      ["declined", "declined"],
      ["soon", "expiring"],
    ]);
  });

  test("ends for failures of long ago that nobody can mend", () => {
    const old = { status: "voided", failure: { ...failure, stage: "render", at: days(-30) } };
    expect(attentionOf(envelope("gone", old), now)).toBeNull();
    expect(attentionOf(envelope("new", { ...old, failure: { ...failure, stage: "render" } }), now)).toBe("stuck");
  });
});
