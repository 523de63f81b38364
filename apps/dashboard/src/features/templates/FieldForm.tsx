import { Button, Checkbox, CloseButton, Group, NativeSelect } from "@mantine/core";
import { isField, type OverlayItem } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { CommitInput, CommitNumber } from "./CommitInput.tsx";
import { type Draft, type ItemPatch, inside, isAsked } from "./model.ts";
import { itemName } from "./words.ts";

type Props = {
  item: OverlayItem;
  draft: Draft;
  pages: readonly PageSize[];
  readOnly: boolean;
  onChange: (patch: ItemPatch, kind?: string) => void;
  onDuplicate: () => void;
  onRemove: () => void;
  onClose: () => void;
};

/** Everything about the chosen field: whose it is, what it asks, where it lies. */
export function FieldForm({ item, draft, pages, readOnly, onChange, onDuplicate, onRemove, onClose }: Props) {
  const t = translator("templates");
  return (
    <section className="field-form" aria-label={t("fields.chosen", { name: itemName(t, item) })}>
      <div className="field-form-head">
        <h3>{itemName(t, item)}</h3>
        <CloseButton aria-label={t("fields.close")} onClick={onClose} />
      </div>
      <fieldset disabled={readOnly} className="bare stack">
        {isField(item) && (
          <NativeSelect
            label={t("fields.role")}
            value={item.role}
            data={[...new Set([...draft.roles.map(({ name }) => name), item.role])]}
            onChange={(event) => onChange({ role: event.currentTarget.value })}
          />
        )}
        {isField(item) ? (
          <CommitInput
            label={t("fields.label")}
            description={t("fields.labelHint")}
            value={item.label ?? ""}
            maxLength={200}
            onCommit={(label) => onChange({ label: label.trim() || undefined })}
          />
        ) : (
          item.type === "text" && <TextMembers item={item} onChange={onChange} />
        )}
        {isField(item) && isAsked(item.type) && (
          <Checkbox
            label={t("fields.required")}
            checked={item.required ?? true}
            onChange={(event) => onChange({ required: event.currentTarget.checked })}
          />
        )}
        {item.type === "text_input" && (
          <>
            <Checkbox
              label={t("fields.multiline")}
              checked={item.multiline ?? false}
              onChange={(event) => onChange({ multiline: event.currentTarget.checked || undefined })}
            />
            <CommitInput
              label={t("fields.default")}
              value={item.default ?? ""}
              maxLength={4000}
              onCommit={(text) => onChange({ default: text || undefined })}
            />
          </>
        )}
        {item.type === "checkbox" && (
          <Checkbox
            label={t("fields.ticked")}
            checked={item.default ?? false}
            onChange={(event) => onChange({ default: event.currentTarget.checked || undefined })}
          />
        )}
        <BoxMembers item={item} pages={pages} onChange={onChange} />
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={onDuplicate}>
            {t("fields.duplicate")}
          </Button>
          <Button size="compact-sm" variant="default" color="brick" onClick={onRemove}>
            {t("fields.remove")}
          </Button>
        </Group>
      </fieldset>
    </section>
  );
}

function TextMembers({ item, onChange }: { item: OverlayItem & { type: "text" }; onChange: Props["onChange"] }) {
  const t = translator("templates");
  return (
    <>
      <CommitInput
        multiline
        label={t("fields.text")}
        description={t("fields.textHint", { example: "{{name}}" })}
        value={item.text}
        maxLength={20_000}
        onCommit={(text) => onChange({ text })}
      />
      <CommitNumber
        label={t("fields.size")}
        value={item.size ?? 11}
        min={4}
        max={200}
        step={0.5}
        mistake={t("fields.numberBetween", { min: 4, max: 200 })}
        onCommit={(size) => onChange({ size: size ?? undefined })}
      />
      <Checkbox
        label={t("fields.bold")}
        checked={item.weight === "bold"}
        onChange={(event) => onChange({ weight: event.currentTarget.checked ? "bold" : undefined })}
      />
    </>
  );
}

function BoxMembers({ item, pages, onChange }: Pick<Props, "item" | "pages" | "onChange">) {
  const t = translator("templates");
  const size = pages.find(({ page }) => page === item.page);
  const last = Math.max(1, pages.length);
  const place = (member: "x" | "y" | "width" | "height", value: number | null) => {
    const { x, y, width, height } = inside({ ...item, [member]: value ?? item[member] }, size);
    onChange({ x, y, width, height });
  };
  const longest = Math.ceil(Math.max(size?.width ?? 0, size?.height ?? 0) || 20_000);
  return (
    <div className="box-members">
      <CommitNumber
        label={t("fields.pageNumber")}
        value={item.page}
        min={1}
        max={last}
        mistake={t("fields.numberBetween", { min: 1, max: last })}
        onCommit={(page) => {
          const to = pages.find((candidate) => candidate.page === page);
          const { x, y, width, height } = inside(item, to);
          onChange({ page: page ?? item.page, x, y, width, height });
        }}
      />
      {(["x", "y", "width", "height"] as const).map((member) => (
        <CommitNumber
          key={member}
          label={t(`fields.${member}`)}
          value={Math.round(item[member] * 10) / 10}
          min={member === "x" || member === "y" ? 0 : 4}
          max={longest}
          step={0.1}
          mistake={t("fields.numberBetween", { min: member === "x" || member === "y" ? 0 : 4, max: longest })}
          onCommit={(value) => place(member, value)}
        />
      ))}
    </div>
  );
}
