import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { audit, type Browser, browser, mailedToken, person } from "../../harness/people.ts";

const refused = (status: number, code: string) => ({ status, body: { code } });
const settings = "/v1/organization/settings";
const preferences = "/v1/me/preferences";

let app: TestAppliance;
let owner: Browser;
beforeAll(async () => {
  app = await startAppliance();
  owner = browser(app, await app.signIn());
});
afterAll(() => app.stop());

describe("the organization", () => {
  test("changes what is given and nothing else; the record says from what to what", async () => {
    const before = (await owner("GET", settings)).body;
    const changed = await owner("PATCH", "/auth/organization", {
      name: "  Example AG ",
      timeZone: "Europe/Zurich",
      notifyEmail: "office@example.com",
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { ...before, name: "Example AG", timeZone: "Europe/Zurich", notifyEmail: "office@example.com" },
    });
    expect((await owner("GET", settings)).body).toEqual(changed.body);
    const { body } = await owner("GET", "/auth/organization/audit");
    expect((body.data as unknown[])[0]).toMatchObject({
      action: "organization.updated",
      actor: { type: "user", name: "Olive Owner" },
      target: app.organization,
      ip: "127.0.0.1",
      data: {
        name: { from: "Example Ltd", to: "Example AG" },
        timeZone: { from: "UTC", to: "Europe/Zurich" },
        notifyEmail: { from: null, to: "office@example.com" },
      },
    });
    const acts = await audit(owner);
    await owner("PATCH", "/auth/organization", { name: "Example AG" });
    expect(await audit(owner)).toEqual(acts);
    expect((await owner("PATCH", "/auth/organization", { notifyEmail: null })).body.notifyEmail).toBeNull();
  });

  test("refuses a time zone, language or address that is none", async () => {
    for (const [member, value] of [
      ["timeZone", "Mars/Olympus"],
      ["locale", "not a language"],
      ["notifyEmail", "nobody"],
      ["name", "   "],
    ]) {
      const answer = await owner("PATCH", "/auth/organization", { [String(member)]: value });
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer: `#/${member}` }));
    }
  });

  test("under its new name stands in the next mail", async () => {
    await owner("PATCH", "/auth/organization", { name: "Renamed Ltd" });
    await owner("POST", "/auth/organization/invitations", { email: "guest@example.org", role: "member" });
    await mailedToken(app, "guest@example.org");
    const mail = (await app.mail()).find(({ to }) => to.email === "guest@example.org");
    expect(mail?.text).toContain("Renamed Ltd");
  });
});

describe("organizations of a person", () => {
  test("are created by owners while sign-up is by invitation, and worked in at once", async () => {
    const member = await person(app, "Mina", "member");
    expect((await member.as("GET", "/auth/session")).body).toMatchObject({
      canCreateOrganization: false,
      mail: "outbox",
    });
    expect(await member.as("POST", "/auth/organizations", { name: "Mine" })).toMatchObject(refused(403, "forbidden"));
    const made = await owner("POST", "/auth/organizations", {
      name: "Second Ltd",
      locale: "de",
      timeZone: "Asia/Tokyo",
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        organization: { name: "Second Ltd", role: "owner", locale: "de", timeZone: "Asia/Tokyo" },
        organizations: [{ id: app.organization }, { name: "Second Ltd" }],
      },
    });
    expect((await owner("GET", "/v1/organization/settings")).body).toMatchObject({ name: "Second Ltd" });
    expect(await audit(owner)).toEqual(["Olive Owner organization.created"]);
    await owner("POST", "/auth/organization", { organization: app.organization });
  });

  test("are never mixed up: a page that shows another one than the session works in is refused", async () => {
    const cookie = await app.signIn();
    const as = browser(app, cookie);
    const { body: made } = await as("POST", "/auth/organizations", { name: "Other tab Ltd" });
    const other = (made.organization as { id: string }).id;
    const shown = (organization: string, method: string, path: string, json?: unknown) =>
      app.json(path, {
        key: null,
        method,
        headers: { cookie, origin: app.url, "x-signet-organization": organization },
        ...(json === undefined ? {} : { json }),
      });
    const before = await audit(as);
    for (const [method, path, json] of [
      ["GET", "/v1/envelopes"],
      ["POST", "/auth/organization/invitations", { email: "wrong.place@example.org", role: "member" }],
      ["PATCH", "/auth/organization", { name: "Wrong place" }],
      ["GET", "/auth/sessions"],
    ] as const) {
      const answer = await shown(app.organization, method, path, json);
      expect(answer).toMatchObject(refused(409, "conflict"));
      expect(answer.body).toMatchObject({ detail: expect.stringContaining("another organization") });
      expect(answer.headers.get("x-signet-organization")).toBe(other);
    }
    expect(await audit(as)).toEqual(before);
    expect((await shown(other, "GET", "/v1/envelopes")).status).toBe(200);
    // The session of a key is nobody's page.
    const byKey = await app.json("/v1/envelopes", { headers: { "x-signet-organization": other } });
    expect(byKey.status).toBe(200);
  });

  test("are switched between their own only", async () => {
    const stranger = await person(app, "Stella", null);
    expect(await stranger.as("POST", "/auth/organization", { organization: app.organization })).toMatchObject(
      refused(404, "not-found"),
    );
    expect((await stranger.as("GET", "/auth/session")).body).toMatchObject({ organization: null });
    expect(await owner("POST", "/auth/organization", { organization: "org_none" })).toMatchObject(
      refused(404, "not-found"),
    );
    expect(await browser(app, null)("POST", "/auth/organization", { organization: app.organization })).toMatchObject(
      refused(401, "unauthorized"),
    );
  });

  test("start with the chosen one; a foreign one is refused by name", async () => {
    const two = await person(app, "Tina", "member");
    const { body: made } = await owner("POST", "/auth/organizations", { name: "Third Ltd" });
    const third = (made.organization as { id: string }).id;
    await owner("POST", "/auth/organization/invitations", { email: two.email, role: "admin" });
    await two.as("POST", "/auth/invitations/accept", { token: await mailedToken(app, two.email) });
    expect((await two.as("GET", preferences)).body).toEqual({
      startingOrganization: null,
      organizations: [
        { id: app.organization, name: "Renamed Ltd", role: "member", logoUrl: null },
        { id: third, name: "Third Ltd", role: "admin", logoUrl: null },
      ],
    });
    expect((await two.as("PUT", preferences, { startingOrganization: third })).body).toMatchObject({
      startingOrganization: third,
    });
    const again = browser(app, await app.signIn(two.id));
    expect((await again("GET", "/auth/session")).body).toMatchObject({ organization: { id: third } });
    for (const startingOrganization of ["org_none", "org_000000000000000000000001"])
      expect(await two.as("PUT", preferences, { startingOrganization })).toMatchObject({
        status: 422,
        body: { code: "validation-failed", errors: [{ pointer: "#/startingOrganization", code: "reference" }] },
      });
    // Whoever leaves it goes on in the other one, and starts there.
    expect(await two.as("POST", "/auth/organization", { organization: third })).toMatchObject({ status: 200 });
    expect(await two.as("POST", "/auth/organization/leave")).toMatchObject({
      status: 200,
      body: { organization: { id: app.organization }, organizations: [{ id: app.organization }] },
    });
    expect((await two.as("GET", preferences)).body).toMatchObject({ startingOrganization: null });
    // The other session worked there too, and works nowhere now.
    expect((await again("GET", "/auth/session")).body).toMatchObject({ organization: null });
    expect((await two.as("PUT", preferences, { startingOrganization: null })).status).toBe(200);
    expect((await app.json(preferences)).status).toBe(403);
    await owner("POST", "/auth/organization", { organization: app.organization });
  });
});

test("the record is read in pages, newest first", async () => {
  for (let index = 0; index < 7; index += 1) await owner("PATCH", "/auth/organization", { name: `Name ${index}` });
  const all = (await owner("GET", "/auth/organization/audit?limit=100")).body.data as { id: string }[];
  const seen: { id: string }[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${cursor}`;
    const { body } = await owner("GET", `/auth/organization/audit?limit=3${next}`);
    seen.push(...(body.data as { id: string }[]));
    cursor = body.nextCursor as string | null;
  } while (cursor !== null);
  expect(seen).toEqual(all);
  expect((await owner("GET", "/auth/organization/audit?cursor=nonsense")).status).toBe(422);
});
