import { z } from "zod";
import type { Deps } from "../../kernel/deps.ts";
import { ownRevocationList } from "../keys/service.ts";

/** As the worker writes it: `RevocationAsk`. */
const Ask = z.object({ issuer: z.string(), urls: z.array(z.string()) });

const timeoutMs = 5_000;
const largestList = 4 * 1024 * 1024;
/** Addresses that one certificate may send us to. */
const mostUrls = 3;
/** Many seals in a row need the same list. */
const freshMs = 5 * 60_000;
const mostKept = 16;

type Fetched = { at: number; list: Promise<Uint8Array> };
const fetched = new WeakMap<Deps["db"], Map<string, Fetched>>();

/**
 * The revocation list that a worker asks for: our own authority's, else from the addresses in the certificate.
 * What it holds is verified by the worker.
 * @throws Error when none can be had now
 */
export async function revocationList(deps: Deps, ask: Uint8Array): Promise<Uint8Array> {
  const { issuer, urls } = Ask.parse(JSON.parse(Buffer.from(ask).toString("utf8")));
  const own = await ownRevocationList(deps, issuer);
  if (own) return own;
  let failure = new Error("the certificate names no revocation list");
  for (const url of urls.slice(0, mostUrls)) {
    try {
      return await fetchOnce(deps, url);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
  }
  throw failure;
}

function fetchOnce(deps: Deps, url: string): Promise<Uint8Array> {
  const lists = fetched.get(deps.db) ?? new Map<string, Fetched>();
  fetched.set(deps.db, lists);
  const now = deps.clock.now();
  const known = lists.get(url);
  if (known && known.at <= now && now < known.at + freshMs) return known.list;
  if (lists.size >= mostKept) lists.clear();
  const list = fetchList(deps, url);
  lists.set(url, { at: now, list });
  list.catch(() => lists.delete(url));
  return list;
}

async function fetchList(deps: Deps, url: string): Promise<Uint8Array> {
  const answer = await deps.outbound.fetch("crl", url, {
    method: "GET",
    headers: { accept: "application/pkix-crl" },
    timeoutMs,
    maxBytes: largestList,
  });
  if (answer.status !== 200) throw new Error(`${URL.parse(url)?.host ?? url} answered with status ${answer.status}`);
  return answer.body;
}
