import { Button, NativeSelect } from "@mantine/core";
import { useRef, useState } from "react";
import type { OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { variablesIn } from "../../../../../../server/features/templates/format.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CommitInput } from "../CommitInput.tsx";
import { useEditing } from "../editing.ts";
import { declareVariable, inside, noPicture, removeItem } from "../model.ts";
import { useLeftUnder } from "../text-edit/useLeftUnder.ts";
import { type Form, Further, TextMember } from "./members.tsx";
import { mistakeOf } from "./mistake.ts";
import { pictureFrom } from "./picture.ts";
import { StyleMembers, styleNames } from "./StyleMembers.tsx";

type Of<T extends OverlayItem["type"]> = Extract<OverlayItem, { type: T }>;

/** A text of the document: its words with the variables in it, and how it is set. */
export function StaticTextForm({ form, item }: { form: Form; item: Of<"text"> }) {
  const t = translator("templates");
  const { edit } = useEditing();
  const { variables } = form.draft;
  const undeclared = variablesIn(item.text).filter((name) => !variables.some((variable) => variable.name === name));
  const isUnsaid = undeclared.length > 0 && !form.readOnly;
  return (
    <>
      <CommitInput
        multiline
        label={t("fields.text")}
        description={t("fields.textHint", { example: "{{name}}" })}
        value={item.text}
        maxLength={20_000}
        problem={form.problems.text}
        check={(text) => (text === "" && item.group === undefined ? t("props.textMissing") : null)}
        onCommit={(text) => form.onChange({ text })}
      />
      <Replaced form={form} item={item} />
      {isUnsaid && (
        <div className="choices">
          {undeclared.map((name) => (
            <Button
              key={name}
              size="compact-sm"
              variant="default"
              onClick={() => edit((draft) => declareVariable(draft, name))}
            >
              {t("props.declare", { name })}
            </Button>
          ))}
        </div>
      )}
      {variables.length > 0 && (
        <NativeSelect
          label={t("props.insertVariable")}
          value=""
          data={[
            { value: "", label: t("formula.choose") },
            ...variables.map(({ name, label }) => ({ value: name, label: label ?? name })),
          ]}
          onChange={({ currentTarget: { value } }) =>
            value !== "" && form.onChange({ text: `${item.text}${/\s$|^$/.test(item.text) ? "" : " "}{{${value}}}` })
          }
        />
      )}
      <Further title={t("props.style")} form={form} members={styleNames}>
        <StyleMembers form={form} isStatic />
      </Further>
    </>
  );
}

/** Of a text that stands in the place of one of the document: what stood there, and whether some of that stays. */
function Replaced({ form, item }: { form: Form; item: Of<"text"> }) {
  const t = translator("templates");
  const { edit } = useEditing();
  const isLeft = useLeftUnder(form.draft, item);
  if (item.group === undefined) return null;
  return (
    <>
      {isLeft && <p className="notice">{t("edit.left")}</p>}
      <p className="hint">{t("edit.original", { text: item.original ?? "" })}</p>
      <div>
        <Button size="compact-sm" variant="default" onClick={() => edit((draft) => removeItem(draft, item.id))}>
          {t("edit.restore")}
        </Button>
      </div>
    </>
  );
}

/** What is covered takes on the colour around it. */
export function WhiteoutForm({ form }: { form: Form }) {
  const t = translator("templates");
  const isLeft = useLeftUnder(form.draft, form.item);
  return (
    <>
      {isLeft && <p className="notice">{t("edit.left")}</p>}
      <TextMember form={form} member="color" type="color" label={t("props.color")} maxLength={7} fallback="#ffffff" />
      <p className="hint">{t("props.whiteoutHint")}</p>
    </>
  );
}

/** A picture of the document, which keeps its proportions. */
export function PictureForm({ form, item }: { form: Form; item: Extract<OverlayItem, { data: string }> }) {
  const t = translator("templates");
  const input = useRef<HTMLInputElement>(null);
  const [mistake, setMistake] = useState<string | null>(null);
  const isThere = item.data !== noPicture;
  const take = async (file: File | undefined) => {
    if (!file) return;
    const picture = await pictureFrom(file);
    if (typeof picture === "string") return setMistake(t(`props.picture.${picture}`));
    const height = (item.width * picture.height) / picture.width;
    const { page, x, y, ...size } = inside(
      { ...item, height },
      form.pages.find((one) => one.page === item.page),
    );
    const box = {
      page,
      x,
      y,
      width: Math.min(size.width, (size.height * picture.width) / picture.height),
      height: size.height,
    };
    const wrong = mistakeOf(form.draft, item, { data: picture.data });
    setMistake(wrong);
    if (wrong === null) form.onChange({ data: picture.data, ...box });
  };
  return (
    <div>
      {isThere && <img className="picture-shown" src={item.data} alt={t("props.picture.shown")} />}
      <input
        ref={input}
        type="file"
        hidden
        accept="image/png,image/jpeg"
        aria-label={t("props.picture.choose")}
        onChange={(event) => void take(event.currentTarget.files?.[0])}
      />
      <Button size="compact-sm" variant="default" onClick={() => input.current?.click()}>
        {isThere ? t("props.picture.replace") : t("props.picture.choose")}
      </Button>
      <p className="hint">{t("props.picture.hint")}</p>
      {(mistake ?? form.problems.data) !== undefined && (
        <p className="refused" role="alert">
          {mistake ?? form.problems.data}
        </p>
      )}
    </div>
  );
}
