import type { OrganizationCaller } from "../../kernel/caller.ts";
import { canonicalize, type Json } from "../../kernel/canonical.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { chainStart } from "../../kernel/hash-chain.ts";
import type { AuditEntry } from "../envelopes/audit-contract.ts";
import { plans, walkChains } from "../envelopes/service.ts";
import { type AdminAuditRow, adminHead, listAdminChain, planOf } from "../identity/service.ts";
import { csv, jsonLines } from "./export-contract.ts";
import { presentAdminAct } from "./present.ts";

/** Everything that is recorded of an organization as one file, made while it is read: memory stays the same. */

type Begin = { organization: string; testMode: boolean; createdAt: string };
type Head = { envelope: string; length: number; headHash: string };
type Counts = { acts: number; envelopes: number; entries: number };
type Act = ReturnType<typeof presentAdminAct>;
type ActsHead = { length: number; headHash: string };

/** How one kind of file writes each record; several at once where that saves time. */
type Format = {
  extension: string;
  contentType: string;
  begin(about: Begin): string;
  act(act: Act): string;
  actsHead(head: ActsHead): string;
  entry(entry: AuditEntry): string;
  head(head: Head): string;
  end(counts: Counts): string;
};

/**
 * The whole record of the caller's mode; a session says which. A key that asks for the other mode gets no envelopes.
 * @throws AppError `plan-upgrade-required`
 */
export async function exportAudit(
  deps: Deps,
  caller: OrganizationCaller,
  query: { format: "jsonl" | "csv"; testMode?: boolean | undefined },
): Promise<{ pieces: AsyncIterable<string>; contentType: string; filename: string }> {
  if (!plans[await planOf(deps.db.read, deps, caller.organization)].auditLogExport) {
    throw new AppError("plan-upgrade-required", {
      detail: "The plan does not include the export of the audit log (features.auditLogExport).",
      upgradeUrl: `${deps.config.appUrl}/settings/billing`,
    });
  }
  const testMode = query.testMode ?? caller.testMode ?? false;
  const withEnvelopes = caller.testMode === null || caller.testMode === testMode;
  const about = { organization: caller.organization, testMode, createdAt: deps.clock.ts() };
  const format = formats[query.format];
  const day = about.createdAt.slice(0, 10);
  return {
    pieces: write(deps, format, about, withEnvelopes),
    contentType: format.contentType,
    filename: `audit-${testMode ? "test" : "live"}-${day}.${format.extension}`,
  };
}

async function* write(deps: Deps, format: Format, about: Begin, withEnvelopes: boolean): AsyncGenerator<string> {
  const counts: Counts = { acts: 0, envelopes: 0, entries: 0 };
  yield format.begin(about);
  // Up to where it stood at the beginning: an act that comes meanwhile is in the next export.
  const head = await adminHead(deps.db.read, about.organization);
  for await (const acts of adminActs(deps, about.organization, head?.seq ?? 0)) {
    counts.acts += acts.length;
    yield acts.map((act) => format.act(presentAdminAct(act))).join("");
  }
  yield format.actsHead({ length: head?.seq ?? 0, headHash: head?.hash ?? chainStart });
  if (withEnvelopes) {
    for await (const { envelope, end, entries } of walkChains(deps.db.read, about)) {
      for await (const page of entries) {
        counts.entries += page.length;
        yield page.map(format.entry).join("");
      }
      counts.envelopes += 1;
      yield format.head({ envelope, length: end.length, headHash: end.head });
    }
  }
  yield format.end(counts);
}

const actsAtOnce = 200;

async function* adminActs(deps: Deps, organization: string, last: number): AsyncGenerator<AdminAuditRow[]> {
  for (let after = 0; after < last; after += actsAtOnce) {
    const limit = Math.min(actsAtOnce, last - after);
    yield await listAdminChain(deps.db.read, organization, { after, limit });
  }
}

const line = (value: Json) => `${canonicalize(value)}\n`;

const inLines: Format = {
  extension: "jsonl",
  contentType: jsonLines,
  begin: (about) => line({ type: "svc.audit-export", v: 1, ...about }),
  act: (act) => line({ type: "svc.admin-act", v: 1, ...act }),
  actsHead: (head) => line({ type: "svc.admin-head", v: 1, ...head }),
  entry: (entry) => line(entry),
  head: (head) => line({ type: "svc.audit-head", v: 1, ...head }),
  end: (counts) => line({ type: "svc.audit-export-end", v: 1, ...counts }),
};

const columns = [
  "record",
  "envelope",
  "seq",
  "id",
  "type",
  "at",
  "actorType",
  "actorId",
  "actorName",
  "actorEmail",
  "ip",
  "userAgent",
  "target",
  "data",
  "prevHash",
  "hash",
] as const;
type Row = { [Column in (typeof columns)[number]]?: string | number | null };

/**
 * RFC 4180, every cell quoted. What a spreadsheet would calculate is made text by an apostrophe (OWASP, CSV injection), also
 * behind what one that was told another separator takes for the end of a cell.
 */
function row(cells: Row): string {
  const texts = columns.map((column) => String(cells[column] ?? ""));
  return `${texts.map((text) => `"${asText(text).replaceAll('"', '""')}"`).join(",")}\r\n`;
}

const asText = (text: string) => text.replace(/^(?=[\t\r\n])/, "'").replace(/(^|[;\t\r\n]["\s]*)(?=[=+\-@])/g, "$1'");

const actorOf = ({ actor }: Pick<AuditEntry, "actor">): Row => ({
  actorType: actor.type,
  actorId: actor.id,
  actorName: actor.name,
  actorEmail: actor.email,
});

const inRows: Format = {
  extension: "csv",
  contentType: csv,
  // Spreadsheets take a file for UTF-8 only with the mark at its beginning.
  begin: (about) =>
    `\ufeff${row(Object.fromEntries(columns.map((name) => [name, name])))}${row({ record: "export", at: about.createdAt, target: about.organization, data: canonicalize({ testMode: about.testMode }) })}`,
  act: (act) =>
    row({
      record: "act",
      seq: act.seq,
      id: act.id,
      type: act.action,
      at: act.at,
      ...actorOf(act),
      ip: act.ip,
      target: act.target,
      data: canonicalize(act.data),
      prevHash: act.prevHash,
      hash: act.hash,
    }),
  actsHead: ({ length, headHash }) => row({ record: "acts-head", seq: length, hash: headHash }),
  entry: (entry) =>
    row({
      record: "entry",
      envelope: entry.envelope,
      seq: entry.seq,
      id: entry.id,
      type: entry.type,
      at: entry.at,
      ...actorOf(entry),
      ip: entry.ip,
      userAgent: entry.userAgent,
      data: canonicalize(entry.data),
      prevHash: entry.prevHash,
      hash: entry.hash,
    }),
  head: ({ envelope, length, headHash }) => row({ record: "head", envelope, seq: length, hash: headHash }),
  end: (counts) => row({ record: "end", data: canonicalize(counts) }),
};

const formats = { jsonl: inLines, csv: inRows };
