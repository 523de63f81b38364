import { Checkbox } from "@mantine/core";
import { attachmentTypes, type OverlayItem } from "../../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { CheckMember, type Form, NumberMember, TextMember } from "./members.tsx";

const words = { "application/pdf": "PDF", "image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WebP" } as const;

/** Which files a signer may attach, and how many. */
export function AttachmentForm({ form, item }: { form: Form; item: Extract<OverlayItem, { type: "attachment" }> }) {
  const t = translator("templates");
  const accepted = item.accept ?? attachmentTypes;
  return (
    <>
      <fieldset className="choices">
        <legend>{t("props.accept")}</legend>
        <div className="check-row">
          {attachmentTypes.map((type) => (
            <Checkbox
              key={type}
              label={words[type]}
              checked={accepted.includes(type)}
              disabled={form.readOnly || (accepted.length === 1 && accepted.includes(type))}
              onChange={({ currentTarget: { checked } }) => {
                const next = attachmentTypes.filter((one) => (one === type ? checked : accepted.includes(one)));
                form.onChange({ accept: next.length === attachmentTypes.length ? undefined : next });
              }}
            />
          ))}
        </div>
      </fieldset>
      <NumberMember form={form} member="maxFiles" label={t("props.maxFiles")} min={1} max={10} placeholder="1" />
    </>
  );
}

/** A line that the signer writes: company, job title, telephone. */
export function LineForm({ form }: { form: Form }) {
  return <TextMember form={form} member="default" label={translator("templates")("fields.default")} maxLength={200} />;
}

export function CheckboxForm({ form }: { form: Form }) {
  return <CheckMember form={form} member="default" label={translator("templates")("fields.ticked")} />;
}
