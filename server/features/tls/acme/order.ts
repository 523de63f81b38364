import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import forge from "node-forge";
import { z } from "zod";
import { isIP, makeChallengeCertificate, makeRequest, reverseName } from "../own-authority.ts";
import { AcmeError, AcmeProblem, type Signer } from "./client.ts";
import { accountBinding, jwkOf, keyAuthorization, signed } from "./jws.ts";
import { AcmePending, type AcmeWork, dropOrder, locationOf, Order, openOrder } from "./open-order.ts";

/**
 * One certificate from an authority (RFC 8555 §7): account, order, proof of each name, key, chain. Everything that the authority
 * could know before us is written down first, so that the same call after a kill goes on where it was.
 */

const Authorization = z.object({
  status: z.enum(["pending", "valid", "invalid", "deactivated", "expired", "revoked"]),
  identifier: z.object({ type: z.string(), value: z.string() }),
  challenges: z.array(
    z.object({
      type: z.string(),
      url: z.url().optional(),
      status: z.string().default("pending"),
      token: z.string().optional(),
      error: AcmeProblem.optional(),
    }),
  ),
});
type Authorization = z.infer<typeof Authorization>;

/** @returns the chain and the key that belongs to it. @throws AcmePending, AcmeError, OutboundError */
export async function obtainCertificate(
  work: AcmeWork,
  replaces: string | null,
): Promise<{ chainPem: string; keyPem: string }> {
  const signer = await openAccount(work);
  const { url, order } = await openOrder(work, signer, replaces);
  try {
    if (order.status === "pending") await prove(work, signer, order);
    const ready = await until(work, signer, url, "checks the names", Order, ({ status }) => status !== "pending");
    return await finish(work, signer, url, ready);
  } catch (error) {
    // Such an order leads nowhere; what failed for another reason is gone on with.
    if (error instanceof AcmeError && (await isOver(work, signer, url))) await dropOrder(work);
    throw error;
  }
}

async function isOver({ client }: AcmeWork, signer: Signer, url: string): Promise<boolean> {
  try {
    const order = (await client.post(url, undefined, signer)).json(Order);
    return order.status === "invalid" || order.status === "valid";
  } catch (error) {
    return error instanceof AcmeError && error.status >= 400 && error.status < 500;
  }
}

/** The account of the stored key; made where there is none yet. */
export async function openAccount(work: AcmeWork): Promise<Signer> {
  const { client, settings, secrets, progress } = work;
  if (secrets.nextAccountKey !== null) await endRollover(work);
  const key = createPrivateKey(work.secrets.accountKey);
  if (progress.account !== null) return { key, kid: progress.account };
  const { newAccount } = await client.directory();
  const contact = settings.contacts.map((address) => `mailto:${address}`);
  const eab = settings.eabKid !== null && secrets.eabKey !== null && { kid: settings.eabKid, hmacKey: secrets.eabKey };
  const answer = await client.post(
    newAccount,
    {
      termsOfServiceAgreed: true,
      contact,
      ...(eab ? { externalAccountBinding: accountBinding(eab, key, newAccount) } : {}),
    },
    { key, kid: null },
  );
  const account = locationOf(answer);
  // It was there already, perhaps with other addresses (RFC 8555 §7.3.2).
  if (answer.status === 200) await client.post(account, { contact }, { key, kid: account });
  await work.save({ progress: { account }, secrets: { eabKey: null } });
  return { key, kid: account };
}

/** Gives the account another key (RFC 8555 §7.3.5). The new one is stored first: after a kill the authority says which it knows. */
export async function rollOver(work: AcmeWork, next: KeyObject): Promise<void> {
  const signer = await openAccount(work);
  const { keyChange } = await work.client.directory();
  if (keyChange === undefined)
    throw new AcmeError({ type: "unsupported", detail: "the authority lets no account change its key" });
  await work.save({ secrets: { nextAccountKey: next.export({ type: "pkcs8", format: "pem" }).toString() } });
  const inner = signed(next, { url: keyChange, jwk: jwkOf(next) }, { account: signer.kid, oldKey: jwkOf(signer.key) });
  await work.client.post(keyChange, inner, signer);
  await endRollover(work);
}

async function endRollover(work: AcmeWork): Promise<void> {
  const { nextAccountKey } = work.secrets;
  if (nextAccountKey === null) return;
  const { newAccount } = await work.client.directory();
  try {
    const signer = { key: createPrivateKey(nextAccountKey), kid: null };
    const account = locationOf(await work.client.post(newAccount, { onlyReturnExisting: true }, signer));
    await work.save({ progress: { account }, secrets: { accountKey: nextAccountKey, nextAccountKey: null } });
  } catch (error) {
    if (!(error instanceof AcmeError) || error.type !== "accountDoesNotExist") throw error;
    await work.save({ secrets: { nextAccountKey: null } });
  }
}

/** Answers one challenge of each name that is not proven yet, and waits for the authority's word. */
async function prove(work: AcmeWork, signer: Signer, { authorizations }: Order): Promise<void> {
  const placed: (() => void)[] = [];
  const removeAll = () => {
    for (const remove of placed) remove();
  };
  try {
    for (const url of authorizations) {
      const authorization = (await work.client.post(url, undefined, signer)).json(Authorization);
      if (authorization.status !== "pending") continue;
      const { challengeUrl, remove } = await place(work, signer, authorization);
      placed.push(remove);
      if (challengeUrl !== null) await work.client.post(challengeUrl, {}, signer);
    }
    for (const url of authorizations) {
      const found = await until(work, signer, url, "checks the names", Authorization, (a) => a.status !== "pending");
      if (found.status !== "valid") throw refusal(found);
    }
  } catch (error) {
    // The authority may still come.
    if (!(error instanceof AcmePending)) removeAll();
    throw error;
  }
  removeAll();
}

/** @returns where the authority is told to look; null when it does already */
async function place(
  { settings, challenges, now }: AcmeWork,
  { key }: Signer,
  { identifier, challenges: offered }: Authorization,
) {
  const chosen = offered.find(({ type }) => type === settings.challenge);
  if (chosen?.token === undefined || chosen.url === undefined || !/^[A-Za-z0-9_-]+$/.test(chosen.token)) {
    const types = offered.map(({ type }) => type).join(", ");
    throw new AcmeError({
      type: "noChallenge",
      detail: `it proves ${identifier.value} by ${types || "nothing"} only, not by ${settings.challenge}`,
    });
  }
  const { token, status, url } = chosen;
  const text = keyAuthorization(token, key);
  const challengeUrl = status === "pending" ? url : null;
  if (settings.challenge === "http-01") {
    challenges.http.set(token, text);
    return { challengeUrl, remove: () => void challenges.http.delete(token) };
  }
  const digest = createHash("sha256").update(text).digest();
  const name = isIP(identifier.value) ? reverseName(identifier.value) : identifier.value.toLowerCase();
  challenges.alpn.set(name, await makeChallengeCertificate(identifier.value, digest, now()));
  return { challengeUrl, remove: () => void challenges.alpn.delete(name) };
}

function refusal({ identifier, challenges, status }: Authorization): AcmeError {
  const failed = challenges.find(({ error }) => error !== undefined)?.error;
  const detail = failed?.detail ?? `the proof is ${status}`;
  return new AcmeError({ ...failed, type: failed?.type ?? "unauthorized", detail: `${identifier.value}: ${detail}` });
}

async function finish(work: AcmeWork, signer: Signer, url: string, ready: Order) {
  if (ready.status === "invalid") throw orderRefusal(ready);
  if (ready.status === "ready") {
    if (work.secrets.request === null)
      await work.save({ secrets: { request: await makeAcmeRequest(work.settings.names) } });
    const csr = derOf(work.secrets.request?.csrPem ?? "").toString("base64url");
    await work.client.post(ready.finalize, { csr }, signer);
  }
  const done = await until(work, signer, url, "issues the certificate", Order, ({ status }) => {
    return status === "valid" || status === "invalid";
  });
  const { request } = work.secrets;
  if (done.status === "invalid") throw orderRefusal(done);
  if (done.certificate === undefined || request === null)
    throw new AcmeError({ type: "unreadable", detail: "the order is done, and its certificate or its key is missing" });
  const chainPem = (await work.client.post(done.certificate, undefined, signer)).text;
  return { chainPem, keyPem: request.keyPem };
}

const orderRefusal = ({ error }: Order): AcmeError =>
  new AcmeError(error ?? { type: "invalid", detail: "the authority refused the order and does not say why" });

/** A key that lives for weeks: 2048 bits make handshakes three times as fast as 3072. */
const makeAcmeRequest = (names: readonly string[]) =>
  makeRequest(names, null, {
    commonName: names.find((name) => !isIP(name) && name.length <= 64) ?? null,
    modulusLength: 2048,
  });

/** Milliseconds between two looks, one after the other; then it is looked at again later. */
const looks = [200, 400, 800, 1500, 2500, 2500];
const longestLookMs = 5000;
const laterMs = 15_000;

/** Looks until it is so, as often as the authority says. @throws AcmePending when that takes long */
async function until<T>(
  { client, signal }: AcmeWork,
  signer: Signer,
  url: string,
  what: string,
  schema: z.ZodType<T>,
  enough: (value: T) => boolean,
): Promise<T> {
  for (let n = 0; ; n += 1) {
    const answer = await client.post(url, undefined, signer);
    const value = answer.json(schema);
    if (enough(value)) return value;
    const wait = answer.retryAfterMs ?? looks[n];
    if (wait === undefined || wait > longestLookMs || n >= looks.length)
      throw new AcmePending(`the authority ${what}`, answer.retryAfterMs ?? laterMs);
    await sleep(Math.max(wait, 100), undefined, { signal });
  }
}

function derOf(pem: string): Buffer {
  return Buffer.from(forge.pem.decode(pem)[0]?.body ?? "", "latin1");
}
