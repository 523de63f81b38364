import { Checkbox } from "@mantine/core";
import { TextStyle, textFaces } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CheckMember, ChoiceMember, type Form, NumberMember, TextMember } from "./members.tsx";

/** The members that say how a text is set. */
export const styleNames = Object.keys(TextStyle.shape);

/** How a text is set. Lengths in points. */
export function StyleMembers({ form, isStatic = false }: { form: Form; isStatic?: boolean }) {
  const t = translator("templates");
  const { item, onChange } = form;
  const aligns = ["left", "center", "right", "justify"] as const;
  return (
    <>
      <ChoiceMember
        form={form}
        member="face"
        label={t("props.face")}
        choices={[
          { value: "", label: textFaces[0] },
          ...textFaces.slice(1).map((face) => ({ value: face, label: face })),
        ]}
      />
      <div className="box-members">
        <NumberMember
          form={form}
          member="size"
          label={t("fields.size")}
          min={1}
          max={400}
          step={0.1}
          placeholder={isStatic ? "11" : t("props.automatic")}
        />
        <TextMember form={form} member="color" type="color" label={t("props.color")} maxLength={7} fallback="#000000" />
      </div>
      <div className="check-row">
        <Checkbox
          label={t("fields.bold")}
          checked={"weight" in item && item.weight === "bold"}
          onChange={({ currentTarget: { checked } }) => onChange({ weight: checked ? "bold" : undefined })}
        />
        <CheckMember form={form} member="italic" label={t("props.italic")} />
        <CheckMember form={form} member="underline" label={t("props.underline")} />
      </div>
      <ChoiceMember
        form={form}
        member="align"
        label={t("props.align")}
        choices={[
          { value: "", label: t("props.aligns.start") },
          ...aligns.map((value) => ({ value, label: t(`props.aligns.${value}`) })),
        ]}
      />
      <div className="box-members">
        <NumberMember
          form={form}
          member="lineHeight"
          label={t("props.lineHeight")}
          min={0.5}
          max={10}
          step={0.01}
          placeholder="1.25"
        />
        <NumberMember
          form={form}
          member="baseline"
          label={t("props.baseline")}
          min={0}
          max={2000}
          step={0.01}
          placeholder={t("props.automatic")}
        />
        <NumberMember
          form={form}
          member="padding"
          label={t("props.padding")}
          min={0}
          max={500}
          step={0.1}
          placeholder="0"
        />
      </div>
    </>
  );
}
