import { createContext, use } from "react";
import type { SigningView } from "../../../../../server/features/signing/contract.ts";
import type { FieldInput } from "../../../../../server/features/templates/contract.ts";
import { ownMember } from "../../../../../server/kernel/record.ts";
import { translator } from "../../../../shared/i18n.ts";
import { type Answers, type Fit, type Mine, mistakeIn, overfull } from "./fields.ts";
import type { Problems } from "./problems.ts";
import type { Uploads } from "./useUploads.ts";

/** What the fields and the guide share while a document is being filled in. */
export type Filling = {
  view: SigningView;
  answers: Answers;
  /** Visible fields of the signer, in reading order. */
  fields: readonly Mine[];
  /** The same by page; a field that stands on two pages is in both. */
  onPage: ReadonlyMap<number, readonly Mine[]>;
  problems: Problems;
  current: string | null;
  /** Fields that the signer has been in. */
  seen: ReadonlySet<string>;
  uploads: Uploads;
  /** Computed values of formula fields, by id. */
  computed: Readonly<Record<string, string>>;
  /** How texts go into their fields in the document, by id, as far as that was measured. */
  fits: ReadonlyMap<string, Fit>;
  set(id: string, value: FieldInput | readonly string[]): void;
  goTo(id: string | null): void;
  /** On to the next open field. */
  advance(): void;
  sign(field: Mine): void;
};

export type SignatureKind = "signature" | "initials";

export const FillingContext = createContext<Filling | null>(null);

export function useFilling(): Filling {
  const filling = use(FillingContext);
  if (!filling) throw new Error("There is no document being filled in here.");
  return filling;
}

/** What the service said about the field or about its signature, else what it would say. */
export function problemOf(filling: Filling, field: Mine): string | undefined {
  if (field.type === "signature" && filling.problems.signature) return filling.problems.signature;
  if (field.type === "initials" && filling.problems.initials) return filling.problems.initials;
  // At once and not only afterwards: whoever types on types in vain.
  const over = overfull(field, filling.answers, filling.fits);
  if (over) return translator("sign")("field.tooLong", { room: over.room ?? 0, length: [...over.text].length });
  const said = ownMember(filling.problems.fields, field.id);
  return said ?? (filling.seen.has(field.id) ? (mistakeIn(field, filling.answers) ?? undefined) : undefined);
}
