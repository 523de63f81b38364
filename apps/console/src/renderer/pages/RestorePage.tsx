import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { getSetup } from "../../../../../server/features/appliance/setup-contract.ts";
import { getStatus } from "../../../../../server/features/appliance/status-contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { store, stored } from "../../../../shared/storage.ts";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { StatusBadge } from "../../../../shared/ui/kit/StatusBadge.tsx";
import { ask } from "../bridge.ts";
import { useConnection } from "../connection.ts";
import { useLocal } from "../local.ts";
import { PageLink } from "../PageLink.tsx";
import { ServiceControl } from "../shell/ServiceControl.tsx";

const t = translator("console");
const placeKey = "restore-from";
/** Of an appliance that was seen without an owner: what its first start began may go. */
const dataKey = "restore-data";
const tones = { done: "good", now: "busy", open: "waiting" } as const;
type State = keyof typeof tones;

/**
 * The second way in: everything of another machine out of its backup. The restore itself is a command, for it needs root and a
 * service that stands still; where it has come to is read off from what is there, so it can be left and taken up at any time.
 */
export function RestorePage() {
  const connection = useConnection();
  const state = connection.data?.state;
  const running = state === "running";
  const setup = useLocal(getSetup, {}, { enabled: running });
  const chosen = useQuery({ queryKey: ["connection.get"], queryFn: () => ask("connection.get") });
  const [place, setPlace] = useState(stored("local", placeKey) ?? "");
  const status = useLocal(getStatus, {}, { enabled: running });
  const owned = running && setup.data?.steps.some(({ step, state: found }) => step === "owner" && found === "done");
  const unused = running && setup.data !== undefined && !owned ? (status.data?.dataDir ?? null) : null;
  useEffect(() => {
    if (owned || unused !== null) store("local", dataKey, owned ? null : unused);
  }, [owned, unused]);
  const remote = connection.data?.remote === true;
  const control = (verb: "start" | "stop") =>
    remote ? (
      <p className="soft">{t("restore.remote")}</p>
    ) : (
      <ServiceControl verbs={[verb]} onDone={() => void connection.refetch()} />
    );
  const keep = (value: string) => {
    setPlace(value);
    store("local", placeKey, value === "" ? null : value);
  };
  if (owned)
    return (
      <>
        <PageHeader title={t("restore.nav")} description={t("restore.description")} />
        <div className="notice" role="status">
          <strong>{t("restore.notEmpty")}</strong>
          {t("restore.notEmptyText")}
        </div>
        <PageLink to="overview">{t("overview.nav")}</PageLink>
      </>
    );
  const stopped = state === "stopped";
  const before: State = place.trim() === "" ? "now" : "done";
  const stop: State = stopped ? "done" : before === "done" ? "now" : "open";
  const command: State = stopped && before === "done" ? "now" : "open";
  const windows = chosen.data?.platform === "win32";
  const quoted = (text: string) => (windows ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`);
  const begun = stored("local", dataKey);
  return (
    <>
      <PageHeader title={t("restore.nav")} description={t("restore.description")} />
      <ol className="steps">
        <Step name="place" state={before}>
          <TextInput
            label={t("restore.folder")}
            description={t("restore.folderHint")}
            spellCheck={false}
            maxLength={1000}
            value={place}
            onChange={(event) => keep(event.currentTarget.value)}
          />
          {!remote && (
            <Button
              mt="sm"
              variant="default"
              onClick={() => void ask("path.pick", { kind: "folder" }).then((picked) => picked && keep(picked.path))}
            >
              {t("restore.pick")}
            </Button>
          )}
        </Step>
        <Step name="stop" state={stop}>
          {!stopped && control("stop")}
        </Step>
        <Step name="command" state={command}>
          {command === "now" && begun !== null && !windows && (
            <CopyField
              label={t("restore.emptyLabel")}
              value={`sudo find ${quoted(begun)} -mindepth 1 -delete`}
              description={t("restore.emptyHint")}
            />
          )}
          {before === "done" && (
            <CopyField
              label={t("restore.commandLabel")}
              value={`${windows ? "" : "sudo "}signet restore --from ${quoted(place.trim())} --key ${windows ? "backup.key" : "/root/backup.key"}`}
              description={t("restore.commandHint")}
            />
          )}
        </Step>
        <Step name="start" state={command === "now" ? "now" : "open"}>
          {stopped && control("start")}
        </Step>
      </ol>
    </>
  );
}

function Step({
  name,
  state,
  children,
}: {
  name: "place" | "stop" | "command" | "start";
  state: State;
  children: ReactNode;
}) {
  return (
    <li data-state={state}>
      <h2>
        {t(`restore.step.${name}`)} <StatusBadge tone={tones[state]}>{t(`restore.state.${state}`)}</StatusBadge>
      </h2>
      <p>{t(`restore.text.${name}`)}</p>
      {children}
    </li>
  );
}
