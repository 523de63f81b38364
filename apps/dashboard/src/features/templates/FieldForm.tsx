import { Button, Checkbox, CloseButton, Group, NativeSelect } from "@mantine/core";
import { isField, type OverlayItem, type StaticItem } from "../../../../../server/features/templates/contract.ts";
import { takesInput } from "../../../../../server/features/templates/values.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { useRoleName } from "../canvas/role-names.ts";
import { CommitNumber } from "./CommitInput.tsx";
import { useEditing } from "./editing.ts";
import { problemsByMember } from "./explain.ts";
import { type Draft, type ItemPatch, inside, isAsked } from "./model.ts";
import { problemText } from "./problem-text.ts";
import { ConditionForm } from "./properties/ConditionForm.tsx";
import { FormulaForm } from "./properties/FormulaForm.tsx";
import { CheckMember, type Form, Further, TextMember } from "./properties/members.tsx";
import { DateForm, DateFormat, NumberForm } from "./properties/NumberForms.tsx";
import { OptionsForm } from "./properties/OptionsForm.tsx";
import { AttachmentForm, CheckboxForm, LineForm } from "./properties/OtherForms.tsx";
import { PictureForm, StaticTextForm, WhiteoutForm } from "./properties/StaticForms.tsx";
import { StyleMembers, styleNames } from "./properties/StyleMembers.tsx";
import { TextForm } from "./properties/TextForm.tsx";
import { itemName } from "./words.ts";

type FieldItem = Exclude<OverlayItem, StaticItem>;

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

/** Everything about the chosen field: whose it is, what it asks, how it looks, where it lies. */
export function FieldForm({ item, draft, pages, readOnly, onChange, onDuplicate, onRemove, onClose }: Props) {
  const t = translator("templates");
  const { problems } = useEditing();
  const form: Form = { item, draft, pages, readOnly, problems: wordsOf(problemsByMember(problems, item.id)), onChange };
  return (
    <section className="field-form" aria-label={t("fields.chosen", { name: itemName(t, item) })}>
      <div className="field-form-head">
        <h3>{itemName(t, item)}</h3>
        <CloseButton aria-label={t("fields.close")} onClick={onClose} />
      </div>
      <fieldset disabled={readOnly} className="bare stack">
        {isField(item) ? <FieldMembers form={form} item={item} /> : <StaticMembers form={form} item={item} />}
        <BoxMembers form={form} />
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

const wordsOf = (problems: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(problems).map(([member, sentence]) => [member, problemText(sentence)]));

function StaticMembers({ form, item }: { form: Form; item: StaticItem }) {
  switch (item.type) {
    case "text":
      return <StaticTextForm form={form} item={item} />;
    case "whiteout":
      return <WhiteoutForm form={form} />;
    case "image":
      return <PictureForm form={form} item={item} />;
  }
}

/** The everyday ones first. */
function FieldMembers({ form, item }: { form: Form; item: FieldItem }) {
  const t = translator("templates");
  const { draft, problems, onChange } = form;
  const styled = item.type === "text_input" || item.type === "number" || item.type === "formula" || isLine(item);
  const roleName = useRoleName();
  return (
    <>
      <NativeSelect
        label={t("fields.role")}
        value={item.role}
        data={[...new Set([...draft.roles.map(({ name }) => name), item.role])].map((role) => ({
          value: role,
          label: roleName(role),
        }))}
        error={problems.role}
        onChange={(event) => onChange({ role: event.currentTarget.value })}
      />
      <TextMember
        form={form}
        member="label"
        label={t("fields.label")}
        description={t("fields.labelHint")}
        maxLength={200}
      />
      {isAsked(item.type) && (
        <Checkbox
          label={t("fields.required")}
          checked={item.required ?? true}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
      )}
      <TypeMembers form={form} item={item} />
      <ConditionForm form={form} item={item} />
      {styled && (
        <Further title={t("props.style")} form={form} members={styleNames}>
          <StyleMembers form={form} />
        </Further>
      )}
      <Further title={t("props.more")} form={form} members={["tooltip", "readOnly"]}>
        <TextMember
          form={form}
          member="tooltip"
          label={t("props.tooltip")}
          description={t("props.tooltipHint")}
          maxLength={500}
        />
        {takesInput(item) && <CheckMember form={form} member="readOnly" label={t("props.readOnly")} />}
        <p className="hint">
          {t("props.id")} <code>{item.id}</code>
        </p>
      </Further>
    </>
  );
}

function TypeMembers({ form, item }: { form: Form; item: FieldItem }) {
  switch (item.type) {
    case "text_input":
      return <TextForm form={form} item={item} />;
    case "company":
    case "job_title":
    case "phone":
      return <LineForm form={form} />;
    case "number":
      return <NumberForm form={form} />;
    case "date":
      return <DateForm form={form} item={item} />;
    case "date_signed":
      return <DateFormat form={form} format={item.format} />;
    case "checkbox":
      return <CheckboxForm form={form} />;
    case "radio":
    case "dropdown":
      return <OptionsForm form={form} item={item} />;
    case "formula":
      return <FormulaForm form={form} item={item} />;
    case "attachment":
      return <AttachmentForm form={form} item={item} />;
    default:
      return null;
  }
}

const isLine = ({ type }: FieldItem) => type === "company" || type === "job_title" || type === "phone";

function BoxMembers({ form }: { form: Form }) {
  const t = translator("templates");
  const { item, pages, problems, onChange } = form;
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
        problem={problems.page}
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
          problem={problems[member]}
          onCommit={(value) => place(member, value)}
        />
      ))}
    </div>
  );
}
