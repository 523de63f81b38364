import type { OrganizationCaller } from "../../kernel/caller.ts";
import { toTs } from "../../kernel/clock.ts";
import { type Page, type PageQuery, pageOfAll } from "../../kernel/cursor.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { newId } from "../../kernel/ids.ts";
import { OutboundError } from "../../kernel/outbound.ts";
import type { Remember } from "../../kernel/request.ts";
import { recordAdminAct } from "../identity/service.ts";
import type { CreateWebhookEndpoint, UpdateWebhookEndpoint, WebhookEndpoint } from "./contract.ts";
import { releasePage } from "./deliveries.ts";
import { presentEndpoint, stillSigning } from "./present.ts";
import { newSealedSecret, openSecret, sealSecret } from "./secrets.ts";
import * as store from "./store.ts";
import type { EndpointRow } from "./tables.ts";

/** Who registers, changes and pauses endpoints. */

/** Contract §13, in each mode. */
const mostEndpoints = 20;
const dayMs = 24 * 3_600_000;

/** For the record, which can never be changed: the path of a URL is a secret at many receivers. */
const originOf = ({ url }: EndpointRow): string => new URL(url).origin;
const eventsOf = ({ events }: EndpointRow): string[] => JSON.parse(events);

type By = { caller: OrganizationCaller; ip: string | null };

/** @throws AppError not-found */
export async function ownEndpoint(deps: Deps, id: string, owner: store.Owner): Promise<EndpointRow> {
  const row = await store.findOwnEndpoint(deps.db.read, id, owner);
  if (row === undefined) throw notFound("The webhook endpoint");
  return row;
}

export async function withHealth(
  deps: Pick<Deps, "clock">,
  reader: Reader,
  row: EndpointRow,
): Promise<WebhookEndpoint> {
  const now = deps.clock.now();
  return presentEndpoint(row, await store.countSent(reader, row.id, toTs(now - dayMs)), toTs(now));
}

/** One page, newest first. */
export async function listEndpoints(
  deps: Deps,
  owner: store.Owner,
  { testMode: asked, ...query }: PageQuery & { testMode?: boolean | undefined },
): Promise<Page<WebhookEndpoint>> {
  // A key asking for the other mode gets an empty list (contract §0.7).
  const none = owner.testMode !== null && asked !== undefined && asked !== owner.testMode;
  const testMode = owner.testMode ?? asked ?? false;
  const rows = none ? [] : await store.listEndpoints(deps.db.read, { ...owner, testMode });
  const placeOf = (row: EndpointRow) => ({ t: row.created_at, id: row.id });
  const order = { first: "newest", placeOf } as const;
  const page = pageOfAll(deps.secrets, `webhook-endpoints:${owner.organization}`, rows, query, order, (row) => row);
  const data = await Promise.all(page.data.map((row) => withHealth(deps, deps.db.read, row)));
  return { ...page, data };
}

/**
 * Refuses a URL that could not be called now. One whose name has no address yet is taken: it may get one, and until then the
 * deliveries say so.
 * @throws AppError url-not-allowed
 */
async function requireCallable(deps: Deps, url: string): Promise<void> {
  try {
    await deps.outbound.check("webhook", url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.code !== "url-not-allowed") return;
    const detail = `The URL may not be called: ${error.message.slice(error.message.indexOf(": ") + 2)}.`;
    throw new AppError("url-not-allowed", { detail, errors: [{ pointer: "#/url", code: "format", detail }] });
  }
}

/**
 * @returns the endpoint with its secret, which no list shows again
 * @throws AppError url-not-allowed; conflict when the mode has as many endpoints as there may be
 */
export async function createEndpoint(
  deps: Deps,
  { caller, ip }: By,
  input: CreateWebhookEndpoint,
  remember: Remember | null,
): Promise<WebhookEndpoint> {
  await requireCallable(deps, input.url);
  const testMode = caller.testMode ?? input.testMode ?? false;
  const { organization, actor } = caller;
  const id = newId("whe");
  const { secret, sealed } = newSealedSecret(deps, id);
  return await deps.db.tx(async (tx) => {
    const now = deps.clock.ts();
    if ((await store.listEndpoints(tx, { organization, testMode })).length >= mostEndpoints) {
      const detail = `There are at most ${mostEndpoints} webhook endpoints in each mode: delete one that nothing uses any more.`;
      throw new AppError("conflict", { detail });
    }
    const row: EndpointRow = {
      id,
      organization,
      test_mode: testMode ? 1 : 0,
      url: input.url,
      description: input.description ?? null,
      events: JSON.stringify(input.events ?? []),
      enabled: 1,
      secret: sealed,
      previous_secret: null,
      previous_expires_at: null,
      rotated_at: null,
      last_success_at: null,
      last_failure_at: null,
      last_status_code: null,
      failing_since: null,
      alarmed_at: null,
      created_at: now,
      updated_at: now,
    };
    await store.insertEndpoint(tx, row);
    const data = { url: originOf(row), testMode, events: input.events ?? [] };
    await recordAdminAct(tx, deps, organization, { actor, ip, action: "webhook.created", target: id, data });
    const created = { ...presentEndpoint(row, { succeeded: 0, failed: 0 }, now), secret };
    await remember?.(tx, { status: 201, body: created });
    return created;
  });
}

/** @throws AppError url-not-allowed, not-found */
export async function changeEndpoint(
  deps: Deps,
  { caller, ip }: By,
  { id }: EndpointRow,
  input: UpdateWebhookEndpoint,
): Promise<WebhookEndpoint> {
  if (input.url !== undefined) await requireCallable(deps, input.url);
  return await deps.db.tx(async (tx) => {
    const before = await store.findEndpoint(tx, id);
    if (before === undefined) throw notFound("The webhook endpoint");
    const change: Partial<EndpointRow> = {
      ...(input.url === undefined ? {} : { url: input.url }),
      ...(input.description === undefined ? {} : { description: input.description }),
      ...(input.events === undefined ? {} : { events: JSON.stringify(input.events) }),
      ...(input.enabled === undefined ? {} : { enabled: input.enabled ? 1 : 0 }),
    };
    const names = (["url", "description", "events", "enabled"] as const).filter(
      (name) => change[name] !== undefined && change[name] !== before[name],
    );
    if (names.length === 0) return await withHealth(deps, tx, before);
    const resumed = names.includes("enabled") && change.enabled === 1;
    // Whoever moves or resumes it has looked after it: how long it has been failing is counted anew.
    const fresh = resumed || names.includes("url") ? { failing_since: null, alarmed_at: null } : {};
    const row = await store.updateEndpoint(tx, id, { ...change, ...fresh, updated_at: deps.clock.ts() });
    if (row === undefined) throw notFound("The webhook endpoint");
    if (resumed) await releasePage(tx, deps, { endpoint: id, after: "" });
    const data = { url: originOf(row), changed: names, enabled: row.enabled === 1, events: eventsOf(row) };
    const { organization, actor } = caller;
    await recordAdminAct(tx, deps, organization, { actor, ip, action: "webhook.updated", target: id, data });
    return await withHealth(deps, tx, row);
  });
}

/** What waits to be sent is dropped, since its jobs find nothing any more. @throws AppError not-found */
export async function deleteEndpoint(deps: Deps, { caller, ip }: By, endpoint: EndpointRow): Promise<void> {
  const { id } = endpoint;
  await deps.db.tx(async (tx) => {
    if ((await store.findEndpoint(tx, id)) === undefined) throw notFound("The webhook endpoint");
    await store.deleteEndpoint(tx, id);
    const { organization, actor } = caller;
    await recordAdminAct(tx, deps, organization, {
      actor,
      ip,
      action: "webhook.deleted",
      target: id,
      data: { url: originOf(endpoint) },
    });
  });
}

export type ShownSecret = { secret: string; previousSecretExpiresAt: string | null };

/** Shows the secret again, and notes who has seen it. @throws AppError not-found */
export async function revealSecret(deps: Deps, { caller, ip }: By, { id }: EndpointRow): Promise<ShownSecret> {
  return await deps.db.tx(async (tx) => {
    const row = await store.findEndpoint(tx, id);
    if (row === undefined) throw notFound("The webhook endpoint");
    const { organization, actor } = caller;
    await recordAdminAct(tx, deps, organization, {
      actor,
      ip,
      action: "webhook.secret_revealed",
      target: id,
      data: { url: row.url },
    });
    return { secret: openSecret(deps, row), previousSecretExpiresAt: stillSigning(row, deps.clock.ts()) };
  });
}

/** The secret before signs for another 24 hours; one before that does not any more. @throws AppError not-found */
export async function rotateSecret(deps: Deps, { caller, ip }: By, { id }: EndpointRow): Promise<ShownSecret> {
  const { secret, sealed } = newSealedSecret(deps, id);
  return await deps.db.tx(async (tx) => {
    const row = await store.findEndpoint(tx, id);
    if (row === undefined) throw notFound("The webhook endpoint");
    const now = deps.clock.now();
    const previousSecretExpiresAt = toTs(now + dayMs);
    await store.updateEndpoint(tx, id, {
      secret: sealed,
      previous_secret: sealSecret(deps, "previous_secret", id, openSecret(deps, row)),
      previous_expires_at: previousSecretExpiresAt,
      rotated_at: toTs(now),
      updated_at: toTs(now),
    });
    const { organization, actor } = caller;
    await recordAdminAct(tx, deps, organization, {
      actor,
      ip,
      action: "webhook.secret_rotated",
      target: id,
      data: { url: row.url },
    });
    return { secret, previousSecretExpiresAt };
  });
}
