import { Checkbox, NativeSelect } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import type { PageSize } from "../../../../../shared/pdf/document.ts";
import { CommitInput, CommitNumber } from "../CommitInput.tsx";
import type { Draft, ItemPatch } from "../model.ts";
import { mistakeOf } from "./mistake.ts";

/** The inputs of a form about an item: each shows one member, and stores it when the item may have it. */

export type Form<I extends OverlayItem = OverlayItem> = {
  item: I;
  draft: Draft;
  pages: readonly PageSize[];
  readOnly: boolean;
  /** What keeps the draft from being published, by member of the item. */
  problems: Readonly<Record<string, string>>;
  onChange: (patch: ItemPatch, kind?: string) => void;
};
type MemberProps = { form: Form; member: string; label: string };

function memberOf(item: OverlayItem, member: string): unknown {
  const members: Readonly<Record<string, unknown>> = item;
  return members[member];
}

/** A text; an empty one is left out. */
export function TextMember({
  form,
  member,
  optional = true,
  ...rest
}: MemberProps & {
  description?: string;
  placeholder?: string;
  maxLength: number;
  multiline?: boolean;
  type?: "text" | "date" | "color";
  optional?: boolean;
  spellCheck?: boolean;
  /** Shown where there is none. */
  fallback?: string;
}) {
  const { fallback = "", ...input } = rest;
  const value = memberOf(form.item, member);
  const patchOf = (text: string): ItemPatch => ({ [member]: text === "" && optional ? undefined : text });
  return (
    <CommitInput
      {...input}
      value={typeof value === "string" ? value : fallback}
      problem={form.problems[member]}
      check={(text) => mistakeOf(form.draft, form.item, patchOf(text))}
      onCommit={(text) => form.onChange(patchOf(text))}
    />
  );
}

/** A number; an empty input leaves it out. */
export function NumberMember({
  form,
  member,
  min,
  max,
  step = 1,
  label,
  placeholder,
}: MemberProps & { min: number; max: number; step?: number | "any"; placeholder?: string }) {
  const value = memberOf(form.item, member);
  const patchOf = (number: number | null): ItemPatch => ({ [member]: number ?? undefined });
  return (
    <CommitNumber
      label={label}
      {...(placeholder === undefined ? {} : { placeholder })}
      value={typeof value === "number" ? value : null}
      min={min}
      max={max}
      step={step}
      optional
      problem={form.problems[member]}
      mistake={translator("templates")("fields.numberBetween", { min, max })}
      check={(number) => mistakeOf(form.draft, form.item, patchOf(number))}
      onCommit={(number) => form.onChange(patchOf(number))}
    />
  );
}

/** Yes or no; what is left out counts as `fallback`. */
export function CheckMember({ form, member, label, fallback = false }: MemberProps & { fallback?: boolean }) {
  const value = memberOf(form.item, member);
  return (
    <Checkbox
      label={label}
      checked={typeof value === "boolean" ? value : fallback}
      error={form.problems[member]}
      onChange={({ currentTarget: { checked } }) =>
        form.onChange({ [member]: checked === fallback ? undefined : checked })
      }
    />
  );
}

/** One of several texts; the empty one leaves the member out. */
export function ChoiceMember({
  form,
  member,
  label,
  choices,
}: MemberProps & { choices: readonly { value: string; label: string }[] }) {
  const value = memberOf(form.item, member);
  const chosen = typeof value === "string" ? value : "";
  const isThere = choices.some((choice) => choice.value === chosen);
  return (
    <NativeSelect
      label={label}
      value={chosen}
      data={[...choices, ...(isThere ? [] : [{ value: chosen, label: chosen }])]}
      error={form.problems[member]}
      onChange={({ currentTarget }) => form.onChange({ [member]: currentTarget.value || undefined })}
    />
  );
}

/** Further members, shown when they are asked for, and when one of them is wrong. */
export function Further({
  title,
  members,
  form,
  children,
}: {
  title: string;
  members: readonly string[];
  form: Form;
  children: ReactNode;
}) {
  const wrong = Object.keys(form.problems).some((problem) => members.includes(problem.split("/", 1)[0] ?? ""));
  const [open, setOpen] = useState(wrong);
  useEffect(() => {
    if (wrong) setOpen(true);
  }, [wrong]);
  return (
    <details className="further" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      <div className="stack">{children}</div>
    </details>
  );
}
