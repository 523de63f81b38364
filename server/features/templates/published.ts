import type { DrawCode, Result } from "../../../workers/protocol.ts";
import type { Reader } from "../../kernel/db.ts";
import type { Deps } from "../../kernel/deps.ts";
import type { Field, PageBox, Role, TemplateMode, Variable, VersionSettings, Warning } from "./contract.ts";
import { isField, rolesWithoutSignature as signersWithoutField } from "./fields.ts";
import { renderOverlay } from "./overlay.ts";
import { definitionOf, pagesOf, warningsOf } from "./present.ts";
import { type FieldBoxes, overlayBoxes, type Rendered, type RenderInput } from "./rendering.ts";
import * as store from "./store.ts";

/** Published versions as envelopes use them, whatever they were made with. */

/** Immutable, so one object serves everybody: do not change it. */
export type PublishedVersion = {
  template: { id: string; name: string; mode: TemplateMode };
  version: number;
  roles: Role[];
  variables: Variable[];
  /** In the order in which people are asked. Where they lie depends on the rendering. */
  fields: readonly Field[];
  settings: VersionSettings;
  pages: PageBox[];
  pageCount: number;
  warnings: Warning[];
  contentHash: string;
  /** Files that it is made from, by their SHA-256. */
  blobs: readonly string[];
  /**
   * Draws revision 0. Fields stay empty, prefilled ones too: each is drawn when its person has signed. The same input gives
   * the same bytes.
   * @throws PoolBusy, TaskTimeout, TaskCrashed, BlobMissing, BlobDamaged
   */
  render: (deps: Pick<Deps, "blobs" | "pool">, input: RenderInput) => Promise<Result<Rendered, DrawCode>>;
  /** Of an overlay, where fields always lie in the same place; null where only rendering tells. */
  fixedBoxes: FieldBoxes | null;
};

/** Signers in whose name nothing in the document would be signed. */
export function rolesWithoutSignature({ roles, fields }: Pick<PublishedVersion, "roles" | "fields">): Role[] {
  return signersWithoutField({ roles, items: fields });
}

/** Why there is no such version; the caller knows which member or parameter named it. */
export class NoSuchVersion extends Error {
  readonly reason: "template-not-found" | "no-published-version" | "version-not-found";
  constructor(reason: NoSuchVersion["reason"]) {
    super(`no template version: ${reason}`);
    this.name = "NoSuchVersion";
    this.reason = reason;
  }
}

type VersionBody = Omit<PublishedVersion, "template">;
const remembered = new WeakMap<Deps["db"], Map<string, VersionBody>>();
const mostRemembered = 50;

/**
 * The version that an envelope is made from.
 * @throws NoSuchVersion
 */
export async function publishedVersion(
  deps: Pick<Deps, "db">,
  reader: Reader,
  organization: string,
  template: string,
  version: number | "latest",
): Promise<PublishedVersion> {
  const row = await store.findTemplate(reader, organization, template);
  if (!row) throw new NoSuchVersion("template-not-found");
  if (row.latest_version === null) throw new NoSuchVersion("no-published-version");
  const number = version === "latest" ? row.latest_version : version;
  const body = await versionBody(deps, reader, template, number);
  return { template: { id: row.id, name: row.name, mode: row.mode }, ...body };
}

/** What was found when the document of an envelope's version was uploaded. @throws NoSuchVersion */
export async function uploadWarnings(
  deps: Pick<Deps, "db">,
  reader: Reader,
  of: { template: string; template_version: number },
): Promise<readonly Warning[]> {
  const { warnings } = await versionBody(deps, reader, of.template, of.template_version);
  return warnings;
}

/** Versions never change, so parsing each once is enough. The memory belongs to the database it was read from. */
async function versionBody(
  deps: Pick<Deps, "db">,
  reader: Reader,
  template: string,
  version: number,
): Promise<VersionBody> {
  const cache = remembered.get(deps.db) ?? new Map<string, VersionBody>();
  remembered.set(deps.db, cache);
  const key = `${template} ${version}`;
  const known = cache.get(key);
  if (known) {
    // Moves it to the end: the first of the map is the one that was not asked for the longest.
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const row = await store.findVersion(reader, template, version);
  if (!row) throw new NoSuchVersion("version-not-found");
  const body = bodyOf(row);
  cache.set(key, body);
  const [oldest] = cache.keys();
  if (cache.size > mostRemembered && oldest !== undefined) cache.delete(oldest);
  return body;
}

function bodyOf(row: store.TemplateVersionRow): VersionBody {
  const { content, roles, variables, settings } = definitionOf(row);
  if (content.mode !== "overlay") throw new NoSuchVersion("version-not-found");
  const fixedBoxes = overlayBoxes(content);
  const overlay = { content, variables, fileSha256: row.file_sha256, boxes: fixedBoxes };
  return {
    version: row.version,
    roles,
    variables,
    fields: content.items.filter(isField).map(({ page, x, y, width, height, ...field }) => field),
    settings,
    pages: pagesOf(row.pages),
    pageCount: row.page_count,
    warnings: warningsOf(row.warnings),
    contentHash: row.content_hash,
    blobs: [row.file_sha256],
    render: (deps, input) => renderOverlay(deps, overlay, input),
    fixedBoxes,
  };
}
