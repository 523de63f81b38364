import { Button, Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CommitInput, CommitNumber } from "../CommitInput.tsx";
import { useEditing } from "../editing.ts";
import { addOption, changeItem, inside, radioWith } from "../model.ts";
import { renameValue } from "./conditions.ts";
import { ChoiceMember, type Form } from "./members.tsx";
import { mistakeOf } from "./mistake.ts";
import { freeValue, optionLines } from "./options.ts";

export type Choice = Extract<OverlayItem, { type: "radio" | "dropdown" }>;
type Option = Extract<OverlayItem, { type: "radio" }>["options"][number];
const mostOptions = 100;

/** What there is to choose from: added, removed and put in order; of a choice on the page each with its box. */
export function OptionsForm({ form, item }: { form: Form; item: Choice }) {
  const t = translator("templates");
  const { edit } = useEditing();
  const rows = useRef<HTMLUListElement>(null);
  /** The button that has the focus after its row has moved. */
  const [moved, setMoved] = useState<{ index: number; up: boolean } | null>(null);
  useEffect(() => {
    if (!moved) return;
    const row = rows.current?.children[moved.index];
    const wanted = row?.querySelector<HTMLButtonElement>(`[data-move="${moved.up ? "up" : "down"}"]:enabled`);
    (wanted ?? row?.querySelector<HTMLButtonElement>("[data-move]:enabled"))?.focus();
  }, [moved]);
  const options: readonly Option[] = item.options;
  const patchOf = (next: readonly Option[]) => (item.type === "radio" ? radioWith([...next]) : { options: next });
  const set = (next: readonly Option[]) => form.onChange(patchOf(next));
  /** Renamed as the default, too. */
  const rename = (index: number, value: string) => {
    const before = options[index];
    const isDefault = before !== undefined && item.default === before.value;
    return { ...patchOf(changed(options, index, { value })), ...(isDefault ? { default: value } : {}) };
  };
  const add = (value: string) => {
    if (item.type === "radio")
      form.onChange(
        addOption(
          item,
          value,
          form.pages.find(({ page }) => page === item.page),
        ),
      );
    else set([...options, { value }]);
  };
  const move = (index: number, up: boolean) => {
    const to = up ? index - 1 : index + 1;
    const [one, other] = [options[index], options[to]];
    if (!one || !other) return;
    // The boxes stay where they are: what stands for the first is still the first on the page.
    const swap = (first: Option, second: Option): Option => ({
      ...second,
      ...("box" in first ? { box: first.box } : {}),
    });
    set(options.with(index, swap(one, other)).with(to, swap(other, one)));
    setMoved({ index: to, up });
  };
  return (
    <fieldset className="choices">
      <legend>{t("props.options")}</legend>
      <ul className="option-list" ref={rows}>
        {options.map((option, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an option has no other name than the one that is being edited
          <li key={index} className="option-row">
            <CommitInput
              aria-label={t("props.optionValue", { number: index + 1 })}
              value={option.value}
              maxLength={200}
              problem={form.problems[`options/${index}/value`]}
              check={(value) => (value === option.value ? null : mistakeOf(form.draft, item, rename(index, value)))}
              onCommit={(value) =>
                edit((draft) =>
                  renameValue(changeItem(draft, item.id, rename(index, value)), item.id, option.value, value),
                )
              }
            />
            <CommitInput
              aria-label={t("props.optionLabel", { number: index + 1 })}
              placeholder={t("props.optionLabelHint")}
              value={option.label ?? ""}
              maxLength={200}
              check={(label) =>
                mistakeOf(form.draft, item, patchOf(changed(options, index, { label: label || undefined })))
              }
              onCommit={(label) => set(changed(options, index, { label: label || undefined }))}
            />
            <span className="option-buttons">
              <MoveButton up index={index} value={option.value} disabled={index === 0} onMove={move} />
              <MoveButton
                up={false}
                index={index}
                value={option.value}
                disabled={index === options.length - 1}
                onMove={move}
              />
              <Button
                size="compact-sm"
                variant="subtle"
                color="gray"
                disabled={options.length === 1}
                aria-label={t("props.removeOption", { value: option.value })}
                onClick={() => {
                  const isDefault = item.default === option.value;
                  form.onChange({
                    ...patchOf(options.toSpliced(index, 1)),
                    ...(isDefault ? { default: undefined } : {}),
                  });
                }}
              >
                ✕
              </Button>
            </span>
            {option.box !== undefined && <OptionBox form={form} options={options} index={index} onChange={set} />}
          </li>
        ))}
      </ul>
      <Button
        size="compact-sm"
        variant="default"
        disabled={options.length >= mostOptions}
        onClick={() => add(freeValue(options.map(({ value }) => value)))}
      >
        {t("props.addOption")}
      </Button>
      <ManyOptions
        room={mostOptions - options.length}
        taken={options.map(({ value }) => value)}
        onAdd={(lines) => {
          if (item.type === "dropdown") return set([...options, ...lines.map((value) => ({ value }))]);
          const page = form.pages.find((one) => one.page === item.page);
          let choice = item;
          for (const value of lines) choice = { ...choice, ...addOption(choice, value, page) };
          form.onChange(radioWith(choice.options));
        }}
      />
      <ChoiceMember
        form={form}
        member="default"
        label={t("fields.default")}
        choices={[
          { value: "", label: t("variables.noDefault") },
          ...options.map(({ value, label }) => ({ value, label: label ?? value })),
        ]}
      />
    </fieldset>
  );
}

function changed(
  options: readonly Option[],
  index: number,
  patch: { value?: string; label?: string | undefined },
): Option[] {
  return options.map((option, at) => {
    if (at !== index) return option;
    const { label, ...rest } = { ...option, ...patch };
    return { ...rest, ...(label === undefined ? {} : { label }) };
  });
}

type MoveProps = {
  up: boolean;
  index: number;
  value: string;
  disabled: boolean;
  onMove: (index: number, up: boolean) => void;
};

function MoveButton({ up, index, value, disabled, onMove }: MoveProps) {
  const t = translator("templates");
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      color="gray"
      data-move={up ? "up" : "down"}
      disabled={disabled}
      aria-label={up ? t("props.optionUp", { value }) : t("props.optionDown", { value })}
      onClick={() => onMove(index, up)}
    >
      {up ? "↑" : "↓"}
    </Button>
  );
}

/** Many options at once, one a line, as they are copied out of a list. */
function ManyOptions({
  room,
  taken,
  onAdd,
}: {
  room: number;
  taken: readonly string[];
  onAdd: (lines: string[]) => void;
}) {
  const t = translator("templates");
  const [text, setText] = useState("");
  const lines = optionLines(text, taken).slice(0, room);
  return (
    <details className="further">
      <summary>{t("props.manyOptions")}</summary>
      <div className="stack">
        <Textarea
          label={t("props.manyOptionsLabel")}
          rows={4}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button
          size="compact-sm"
          variant="default"
          disabled={lines.length === 0}
          onClick={() => {
            onAdd(lines);
            setText("");
          }}
        >
          {t("props.addOptions", { count: lines.length })}
        </Button>
      </div>
    </details>
  );
}

type BoxProps = { form: Form; options: readonly Option[]; index: number; onChange: (options: Option[]) => void };

/** Where the box of an option lies. */
function OptionBox({ form, options, index, onChange }: BoxProps) {
  const t = translator("templates");
  const box = options[index]?.box;
  if (!box) return null;
  const size = form.pages.find(({ page }) => page === box.page);
  const longest = Math.ceil(Math.max(size?.width ?? 0, size?.height ?? 0) || 20_000);
  return (
    <details className="further option-box">
      <summary>{t("props.optionBox")}</summary>
      <div className="box-members">
        {(["x", "y", "width", "height"] as const).map((member) => {
          const min = member === "x" || member === "y" ? 0 : 4;
          return (
            <CommitNumber
              key={member}
              label={t(`fields.${member}`)}
              value={box[member]}
              min={min}
              max={longest}
              step={0.1}
              mistake={t("fields.numberBetween", { min, max: longest })}
              problem={form.problems[`options/${index}/box/${member}`]}
              onCommit={(value) => {
                const next = inside({ ...box, [member]: value ?? box[member] }, size);
                onChange(options.map((option, at) => (at === index ? { ...option, box: next } : option)));
              }}
            />
          );
        })}
      </div>
    </details>
  );
}
