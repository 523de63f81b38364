import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { useHeading } from "../../../../shared/ui/kit/heading.ts";
import type { Connection } from "../../shared/native.ts";
import { ask } from "../bridge.ts";
import { PageLink } from "../PageLink.tsx";
import { Said } from "../Said.tsx";
import { ServiceControl } from "./ServiceControl.tsx";

const t = translator("console");

type Props = { connection: Connection | undefined; checking: boolean; onCheck: () => void };

/** What is wrong while no appliance answers, and what to do. */
export function Unavailable({ connection, checking, onCheck }: Props) {
  const state = connection?.state ?? "failed";
  const heading = useHeading(t(`state.${state}`));
  const chosen = useQuery({ queryKey: ["connection.get"], queryFn: () => ask("connection.get") });
  const remote = connection?.remote === true;
  return (
    <div className="unavailable">
      <h1 ref={heading} tabIndex={-1}>
        {t(`state.${state}`)}
      </h1>
      <p>{adviceFor(state, remote, chosen.data?.platform ?? "linux")}</p>
      {connection?.lastStart && (
        <div className="notice bad">
          <strong>{t("unavailable.lastStart", { at: dateTime(connection.lastStart.at) })}</strong>
          <p>
            <Said>{connection.lastStart.message}</Said>
          </p>
        </div>
      )}
      {remote && (
        <p>
          {t("advice.forward")}
          <code className="block">ssh -N -L {connection?.socket}:/run/signet/admin.sock signet.example.com</code>
        </p>
      )}
      {connection && (
        <dl className="facts">
          <dt>{t("unavailable.socket")}</dt>
          <dd>
            <code>{connection.socket}</code>
          </dd>
          <dt>{t("unavailable.since")}</dt>
          <dd>
            <time dateTime={connection.since}>{dateTime(connection.since)}</time>
          </dd>
          {/* Of one that is stopped nothing more is known than what stands above. */}
          {connection.detail && state !== "stopped" && (
            <>
              <dt>{t("unavailable.detail")}</dt>
              <dd>
                <Said>{connection.detail}</Said>
              </dd>
            </>
          )}
        </dl>
      )}
      {commandsFor(state, remote, chosen.data?.platform).map(({ label, command }) => (
        <CopyField key={label} label={label} value={command} />
      ))}
      <Group mt="lg">
        {!remote && (state === "stopped" || state === "broken") && (
          <ServiceControl verbs={state === "stopped" ? ["start"] : ["restart"]} onDone={onCheck} />
        )}
        <Button variant="default" loading={checking} onClick={onCheck}>
          {t("unavailable.check")}
        </Button>
        <PageLink to="console">{t("unavailable.other")}</PageLink>
      </Group>
    </div>
  );
}

function adviceFor(state: Connection["state"] | "failed", remote: boolean, platform: string): string {
  if (state === "stopped" && remote) return t("advice.stoppedRemote");
  if (state === "not-allowed") return platform === "win32" ? t("advice.notAllowedWindows") : t("advice.not-allowed");
  return t(`advice.${state}`);
}

type Command = { label: string; command: string };

/** What does the same in a terminal, for whoever has none of the desktop's questions for a password. */
function commandsFor(state: Connection["state"] | "failed", remote: boolean, platform: string | undefined): Command[] {
  // Of the other machine nothing is known; appliances that are reached by SSH run Linux more often than not.
  if (remote) return [{ label: t("unavailable.byHand.remote"), command: "sudo systemctl status signet" }];
  if (platform !== "linux") return [];
  const log = { label: t("unavailable.log"), command: "sudo journalctl -u signet -n 50" };
  if (state === "stopped")
    return [
      { label: t("unavailable.byHand.stopped"), command: "sudo systemctl start signet" },
      { label: t("unavailable.doctor"), command: "sudo signet doctor" },
      log,
    ];
  if (state === "broken")
    return [{ label: t("unavailable.byHand.broken"), command: "sudo systemctl restart signet" }, log];
  return state === "starting" ? [{ label: t("unavailable.byHand.starting"), command: log.command }] : [];
}
