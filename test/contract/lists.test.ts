import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { endpoints } from "../../server/contract.ts";
import type { EndpointSpec } from "../../server/kernel/endpoint.ts";
import { newId } from "../../server/kernel/ids.ts";
import { localEndpoints } from "../../server/local-contract.ts";
import { type CallOptions, startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { placesOf, problemOf } from "../harness/http.ts";
import { person } from "../harness/people.ts";

/** Every list comes in pages (contract §0.4). */

const shapeOf = (schema: unknown): object => (schema instanceof z.ZodObject ? schema.shape : {});
const answersList = ({ responses }: EndpointSpec) =>
  Object.values(responses).some((answer) => answer.kind === "json" && "hasMore" in shapeOf(answer.schema));

describe("what answers a list", () => {
  /** These do not take `limit` and `cursor`, for a reason. */
  const others: Record<string, string> = {
    addViewers: "adds, and answers with all viewers of the envelope, of whom there are few",
    listOperatorAudit: "goes back by number, for the command line",
  };
  const lists = [...endpoints, ...localEndpoints].filter(answersList);

  it.each(lists.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    "%s takes `limit` and `cursor`",
    (_name, { id, query }) => {
      const taken = ["limit", "cursor"].filter((name) => name in shapeOf(query));
      expect(taken.length === 2).toBe(!(id in others));
    },
  );

  it("is known to differ only where it does", () => {
    const ids = lists.map(({ id }) => id);
    expect(Object.keys(others).filter((id) => !ids.includes(id))).toEqual([]);
  });
});

let app: TestAppliance;
let browser: Pick<CallOptions, "key" | "headers">;
beforeAll(async () => {
  app = await startAppliance();
  const { owner, deps, organization } = app;
  for (const [name, role] of [
    ["Mia", "member"],
    ["Abe", "admin"],
    ["Max", "member"],
    ["Olga", "owner"],
  ] as const)
    await person(app, name, role);
  for (let session = 0; session < 3; session++) await app.signIn();
  browser = { key: null, headers: { cookie: await app.signIn(), origin: new URL(app.url).origin } };
  const at = deps.clock.ts();
  await deps.db.tx(async (tx) => {
    const more = [1, 2, 3, 4];
    const invited = {
      organization,
      role: "member",
      invited_by: JSON.stringify({ type: "system", id: null, name: null, email: null }),
      locale: "en",
      created_at: at,
      expires_at: "2999-01-01T00:00:00.000Z",
      last_sent_at: at,
      accepted_at: null,
      accepted_by: null,
      revoked_at: null,
    };
    for (const number of more) {
      for (const email of [`new${number}@example.com`, owner.email]) {
        const id = newId("inv");
        const row = { ...invited, id, email, email_lower: email.toLowerCase(), token_sha256: id };
        await tx.insertInto("invitations").values(row).execute();
      }
      const id = newId("psk");
      const made = { user: owner.id, created_at: at, last_used_at: null };
      const key = { id, credential_id: id, public_key: "", counter: 0, transports: "[]", backed_up: 0 };
      await tx
        .insertInto("passkeys")
        .values({ ...made, ...key, name: `Key ${number}` })
        .execute();
      const account = {
        provider: "google",
        issuer: "https://google.example",
        subject: `${number}`.repeat(255),
      } as const;
      await tx
        .insertInto("social_identities")
        .values({ ...made, ...account, email: `g${number}@example.com` })
        .execute();
    }
  });
  for (let key = 0; key < 3; key++) await app.createKey("test");
});
afterAll(() => app.stop());

type Page = { data: unknown[]; hasMore: boolean; nextCursor: string | null };
describe.each([
  ["/auth/organization/members", 5],
  ["/auth/organization/invitations", 8],
  ["/auth/invitations", 4],
  ["/auth/sessions", 4],
  ["/auth/passkeys", 4],
  ["/auth/social", 4],
  ["/v1/api-keys", 5],
])("%s", (path, count) => {
  const page = async (query: string) => (await app.json(`${path}?${query}`, browser)).body as Page;

  it("gives every entry once, page by page, in the order of the whole", async () => {
    const whole = await page("limit=100");
    expect([whole.data?.length, whole.hasMore, whole.nextCursor]).toEqual([count, false, null]);
    expect((await app.json(path, browser)).body).toEqual(whole);
    const found: unknown[] = [];
    for (let cursor = ""; found.length < count; ) {
      const { data, hasMore, nextCursor } = await page(`limit=3${cursor}`);
      found.push(...data);
      expect([data.length, hasMore]).toEqual([Math.min(3, count - found.length + data.length), found.length < count]);
      cursor = `&cursor=${nextCursor}`;
    }
    expect(found).toEqual(whole.data);
  });

  it.each(["limit=0", "limit=101", "limit=x", "cursor=x"])("refuses ?%s", async (query) => {
    const problem = problemOf(await app.json(`${path}?${query}`, browser));
    expect([problem.status, placesOf(problem)[0]?.split(" ")[0]]).toEqual([422, `?${query.split("=")[0]}`]);
    expect(placesOf(problem)[0]).not.toContain("unknown");
  });
});

it("owners stand before administrators, and these before members", async () => {
  const { body } = await app.json("/auth/organization/members", browser);
  const roles = (body as { data: { role: string }[] }).data.map(({ role }) => role);
  expect(roles).toEqual(["owner", "owner", "admin", "member", "member"]);
});
