import { Button, Group, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  changeSettings,
  listSettings,
  type SettingList,
} from "../../../../../server/features/appliance/settings-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useConnection } from "../connection.ts";
import { Failure } from "../Failure.tsx";
import { Loaded } from "../Loaded.tsx";
import { useLocal, useLocalAct } from "../local.ts";
import { ServiceControl } from "../shell/ServiceControl.tsx";
import { meaningOf, SettingField } from "./settings/SettingField.tsx";

const t = translator("console");

/** Every setting with its value and where it comes from; changed together, all or none. */
export function SettingsPage() {
  const settings = useLocal(listSettings, {});
  return (
    <>
      <PageHeader title={t("settings.nav")} description={t("settings.description")} />
      <Loaded query={settings} rows={8}>
        {(list) => <SettingsForm list={list} />}
      </Loaded>
    </>
  );
}

/** What was typed, by key; null takes the setting out of the file. */
type Changes = Readonly<Record<string, string | null>>;

function SettingsForm({ list: { data, restartNeeded } }: { list: SettingList }) {
  const [changes, setChanges] = useState<Changes>({});
  const [search, setSearch] = useState("");
  const connection = useConnection();
  const save = useLocalAct(changeSettings, {
    changes: [listSettings],
    onDone: () => {
      setChanges({});
      notify({ message: t("settings.saved") });
    },
  });
  const count = Object.keys(changes).length;
  useUnsaved(count > 0);
  const words = search.trim().toLowerCase();
  const shown = data.filter((setting) =>
    `${setting.key} ${setting.variable} ${meaningOf(setting)}`.toLowerCase().includes(words),
  );
  const change = (key: string, value: string | null | undefined) => {
    save.reset();
    const { [key]: _before, ...others } = changes;
    setChanges(value === undefined ? others : { ...others, [key]: value });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (count > 0) save.mutate({ body: { changes } });
      }}
    >
      {restartNeeded && (
        <div className="notice" role="status">
          <strong>{t("settings.restartTitle")}</strong>
          <p>{t("settings.restartText")}</p>
          {connection.data?.remote === false && (
            <ServiceControl verbs={["restart"]} onDone={() => void connection.refetch()} />
          )}
        </div>
      )}
      <TextInput
        type="search"
        label={t("settings.search")}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        mb="lg"
      />
      {shown.length === 0 && <Empty title={t("settings.none")} text={t("settings.noneText")} />}
      <div className="settings">
        {shown.map((setting) => (
          <SettingField
            key={setting.key}
            setting={setting}
            changed={changes[setting.key]}
            onChange={(value) => change(setting.key, value)}
          />
        ))}
      </div>
      {(count > 0 || save.isError) && (
        <div className="save-bar">
          {save.isError && <Failure error={save.error} />}
          <Group>
            <Button type="submit" disabled={count === 0} loading={save.isPending}>
              {t("settings.save", { count })}
            </Button>
            <Button
              variant="default"
              onClick={() => {
                save.reset();
                setChanges({});
              }}
            >
              {t("settings.discard")}
            </Button>
          </Group>
        </div>
      )}
    </form>
  );
}
