import { Checkbox } from "@mantine/core";
import type { VersionSettings } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { CommitInput, CommitNumber } from "./CommitInput.tsx";
import type { Draft } from "./model.ts";

type Edit = (change: (draft: Draft) => Draft, kind?: string | null) => void;
const methods = ["draw", "type", "upload"] as const;

/** The template's name, and what envelopes made from it begin with. */
export function SettingsPanel({ draft, edit, readOnly }: { draft: Draft; edit: Edit; readOnly: boolean }) {
  const t = translator("templates");
  const { settings } = draft;
  const change = (patch: Partial<VersionSettings>) =>
    edit((now) => ({ ...now, settings: { ...now.settings, ...patch } }));
  const chosen = new Set(settings.signatureMethods);
  const days = (most: number) => t("fields.numberBetween", { min: 1, max: most });
  return (
    <section aria-label={t("settings.title")} className="panel-section">
      <fieldset disabled={readOnly} className="bare stack">
        <CommitInput
          label={t("new.name")}
          value={draft.name}
          maxLength={200}
          check={(name) => (name.trim() === "" ? t("new.nameMissing") : null)}
          onCommit={(name) => edit((now) => ({ ...now, name: name.trim() }))}
        />
        <CommitNumber
          label={t("settings.expires")}
          placeholder={t("settings.never")}
          value={settings.expiresInDays}
          min={1}
          max={365}
          optional
          mistake={days(365)}
          onCommit={(expiresInDays) => change({ expiresInDays })}
        />
        <Reminders value={settings.reminders} onChange={(reminders) => change({ reminders })} />
        <Checkbox
          label={t("settings.decline")}
          checked={settings.allowDecline}
          onChange={(event) => change({ allowDecline: event.currentTarget.checked })}
        />
        <Checkbox
          label={t("settings.reassign")}
          checked={settings.allowReassign}
          onChange={(event) => change({ allowReassign: event.currentTarget.checked })}
        />
        <fieldset className="choices">
          <legend>{t("settings.methods")}</legend>
          {methods.map((method) => (
            <Checkbox
              key={method}
              label={t(`settings.method.${method}`)}
              checked={chosen.has(method)}
              // One way to sign must remain.
              disabled={readOnly || (chosen.size === 1 && chosen.has(method))}
              onChange={(event) => {
                const { checked } = event.currentTarget;
                change({ signatureMethods: methods.filter((one) => (one === method ? checked : chosen.has(one))) });
              }}
            />
          ))}
        </fieldset>
      </fieldset>
    </section>
  );
}

type RemindersProps = {
  value: VersionSettings["reminders"];
  onChange: (value: VersionSettings["reminders"]) => void;
};

function Reminders({ value, onChange }: RemindersProps) {
  const t = translator("templates");
  const between = (max: number) => t("fields.numberBetween", { min: 1, max });
  return (
    <fieldset className="choices">
      <legend>{t("settings.reminders")}</legend>
      <Checkbox
        label={t("settings.remind")}
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? { firstAfterDays: 3, everyDays: 7, max: 3 } : null)}
      />
      {value && (
        <div className="box-members">
          <CommitNumber
            label={t("settings.firstAfter")}
            value={value.firstAfterDays}
            min={1}
            max={30}
            mistake={between(30)}
            onCommit={(days) => onChange({ ...value, firstAfterDays: days ?? 3 })}
          />
          <CommitNumber
            label={t("settings.every")}
            placeholder={t("settings.once")}
            value={value.everyDays}
            min={1}
            max={30}
            optional
            mistake={between(30)}
            onCommit={(everyDays) => onChange({ ...value, everyDays })}
          />
          <CommitNumber
            label={t("settings.most")}
            value={value.max}
            min={1}
            max={10}
            mistake={between(10)}
            onCommit={(max) => onChange({ ...value, max: max ?? 3 })}
          />
        </div>
      )}
    </fieldset>
  );
}
