import { Checkbox, NativeSelect, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { languages } from "../../../../shared/languages.ts";
import { changeLanguage } from "../../../../shared/ui/changeLanguage.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import type { Preferences } from "../../shared/native.ts";
import { ask } from "../bridge.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { ConnectionForm } from "./console/ConnectionForm.tsx";

const t = translator("console");

/** Which appliance this console speaks to, and how it looks itself. */
export function ConsolePage() {
  const chosen = useQuery({ queryKey: ["connection.get"], queryFn: () => ask("connection.get") });
  const preferences = useQuery({ queryKey: ["preferences"], queryFn: () => ask("preferences.get") });
  return (
    <>
      <PageHeader title={t("console.nav")} />
      <div className="sections">
        <section aria-labelledby="console-connection">
          <h2 id="console-connection">{t("console.connection")}</h2>
          <Loaded query={chosen}>{(data) => <ConnectionForm chosen={data} />}</Loaded>
        </section>
        <section aria-labelledby="console-look">
          <h2 id="console-look">{t("console.look")}</h2>
          <Loaded query={preferences}>{(data) => <PreferencesForm preferences={data} />}</Loaded>
        </section>
      </div>
    </>
  );
}

const schemes = ["auto", "light", "dark"] as const;

function PreferencesForm({ preferences }: { preferences: Preferences }) {
  const queries = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const save = useMutation({
    mutationFn: (change: Partial<Preferences>) => ask("preferences.set", change),
    onSuccess: (data) => queries.setQueryData(["preferences"], data),
  });
  return (
    <div className="form">
      <NativeSelect
        label={translator("common")("language")}
        value={pageLanguage()}
        data={languages().map(({ tag, name }) => ({ value: tag, label: name }))}
        onChange={({ currentTarget: { value } }) => {
          save.mutate({ language: value }, { onSuccess: () => void changeLanguage(value) });
        }}
      />
      <NativeSelect
        label={t("console.scheme.label")}
        value={colorScheme}
        data={schemes.map((value) => ({ value, label: t(`console.scheme.${value}`) }))}
        onChange={({ currentTarget: { value } }) => {
          const scheme = schemes.find((one) => one === value);
          if (!scheme) return;
          setColorScheme(scheme);
          save.mutate({ colorScheme: scheme });
        }}
      />
      <Checkbox
        label={t("console.background")}
        description={t("console.backgroundHint")}
        checked={preferences.background}
        onChange={({ currentTarget: { checked } }) => save.mutate({ background: checked })}
      />
      {save.isError && <Failure error={save.error} />}
    </div>
  );
}
