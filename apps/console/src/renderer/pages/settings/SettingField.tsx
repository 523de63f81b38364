import { Button, NativeSelect, TextInput } from "@mantine/core";
import type { Setting } from "../../../../../../server/features/appliance/settings-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { StatusBadge } from "../../../../../shared/ui/kit/StatusBadge.tsx";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { wordsOf } from "../../finding-words.ts";
import { Words } from "../../Said.tsx";

const t = translator("console");

/** What a setting is for, in the language of the page. */
export const meaningOf = ({ key, meaning }: Setting): string =>
  wordsOf("console", `settingMeaning.${key}`, {}, meaning);

type Props = {
  setting: Setting;
  /** What was typed and not saved; null to take it out of the file, undefined for no change. */
  changed: string | null | undefined;
  onChange: (value: string | null | undefined) => void;
};

/** One setting: what it means, what is in force, and where that comes from. */
export function SettingField({ setting, changed, onChange }: Props) {
  const { key, variable, value, isSet, source, fallback, secret, choices, pending } = setting;
  const fixed = source === "environment";
  const shown = changed === undefined ? (value ?? "") : (changed ?? "");
  const common = {
    label: key,
    description: <Words>{meaningOf(setting)}</Words>,
    disabled: fixed,
    autoComplete: "off",
    value: shown,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      const typed = currentTarget.value;
      onChange(typed === (value ?? "") && !(secret && typed !== "") ? undefined : typed);
    },
  };
  return (
    <div className="setting" data-changed={changed !== undefined}>
      {choices ? (
        <NativeSelect {...common} data={value === null ? ["", ...choices] : choices} />
      ) : secret ? (
        <SecretInput {...common} placeholder={isSet ? t("settings.secretSet") : t("settings.notSet")} />
      ) : (
        <TextInput {...common} spellCheck={false} placeholder={fallback ?? t("settings.notSet")} />
      )}
      <p className="badges">
        <StatusBadge tone="neutral">{t(`settings.source.${source}`)}</StatusBadge>
        {pending && <StatusBadge tone="waiting">{t("settings.pending")}</StatusBadge>}
        {changed !== undefined && <StatusBadge tone="busy">{t("settings.changed")}</StatusBadge>}
        <code>{variable}</code>
        {source === "file" && changed === undefined && (
          <Button size="compact-sm" variant="subtle" onClick={() => onChange(null)}>
            {t("settings.takeOut")}
            <span className="spoken"> {key}</span>
          </Button>
        )}
      </p>
      {fixed && <p className="soft small">{t("settings.fixed", { variable })}</p>}
    </div>
  );
}
